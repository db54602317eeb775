"""Suites: folders of a user's scripts, copied with the files that the scripts read elsewhere.

A link or a name with ``..`` may lead out of the folder, and not out of the suite: the work tree of
git around the folder, else the folder above it. Only regular files are copied.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError

#: Far more files and bytes than a suite of scripts has (google/packetdrill: 170, and 0.6 MB).
MOST_FILES, MOST_BYTES = 20_000, 256 << 20
#: A name that leads upwards, in a script.
_UPWARDS = re.compile(rb"(?<![\w/.])(?:\.\./)+[\w./+-]+")
#: The longest script that is searched for names.
_MOST_SCRIPT_BYTES = 1 << 20


@dataclass(frozen=True)
class ScriptSuite:
    """Files to copy, by their places below the suite's root. ``place``: of the folder."""

    root: FilePath
    place: FilePath
    files: dict[FilePath, FilePath]

    def copy(self, directory: FilePath) -> None:
        """Copy all files, each to its place below a directory that is not there."""
        for place, file in self.files.items():
            (directory / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, directory / place)


def files_below(folder: FilePath) -> list[FilePath]:
    """Return all files below a folder, in their order; no link to a folder is followed."""
    found: list[FilePath] = []
    for directory, folders, names in os.walk(folder):
        links = [name for name in folders if FilePath(directory, name).is_symlink()]
        folders[:] = sorted(name for name in folders if name != ".git")
        found += [FilePath(directory, name) for name in (*names, *links)]
        if len(found) > MOST_FILES:
            raise BadInputError(
                problem=f"{folder}: has more than {MOST_FILES:,} files below it",
                remedy="give the folder of the scripts",
            )
    return sorted(found)


def suite_of(folder: FilePath, further: Sequence[str] = ()) -> ScriptSuite:
    """Return the suite of a folder. ``further``: files that are read too, from the folder.

    Raises BadInputError for a name that leads out of the suite, and for a file that is not regular.
    """
    folder = folder.resolve()
    root = _root(folder, further)
    files: dict[FilePath, FilePath] = {}
    todo = [*files_below(folder), *(_lexical(folder / name) for name in further)]
    size_bytes = 0
    while todo:
        file = todo.pop()
        place = file.relative_to(root)
        if place in files:
            continue
        real = _regular(file, root)
        size_bytes += real.stat().st_size
        if size_bytes > MOST_BYTES:
            raise BadInputError(
                file=str(folder), problem=f"has more than {MOST_BYTES >> 20} MiB of files"
            )
        files[place] = real
        todo += _named_in(real, file.parent, root)
    return ScriptSuite(root, folder.relative_to(root), files)


def _root(folder: FilePath, further: Sequence[str]) -> FilePath:
    """Return the work tree of git around a folder, else the folder above it and all it names."""
    for above in (folder, *folder.parents):
        if (above / ".git").exists():
            return above
    ups = max((name.count("../") for name in further), default=1)
    return [folder, *folder.parents][min(ups, len(folder.parents))]


def _lexical(file: FilePath) -> FilePath:
    return FilePath(os.path.normpath(file))


def _regular(file: FilePath, root: FilePath) -> FilePath:
    """Return a regular file as it is, and of a link its target."""
    try:
        real = file.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise BadInputError(
            problem=f"{file}: leads to no file", remedy="give the folder within its whole suite"
        ) from error
    if not real.is_relative_to(root):
        raise BadInputError(
            problem=f"{file}: leads to {real}, outside of {root}",
            remedy="give the folder within its whole suite, and choose scripts by `only`",
        )
    if not real.is_file():
        raise BadInputError(
            problem=f"{file}: is no regular file", remedy="take it out of the folder"
        )
    return real


def _named_in(script: FilePath, folder: FilePath, root: FilePath) -> list[FilePath]:
    """Return the files above its folder that a script names, and that are there.

    A script runs in its own folder. The script may make a file that it names and that does not
    exist yet.
    """
    if script.stat().st_size > _MOST_SCRIPT_BYTES:
        return []
    names = {os.fsdecode(name) for name in _UPWARDS.findall(script.read_bytes())}
    files = [_lexical(folder / name) for name in sorted(names)]
    for file in files:
        if not file.is_relative_to(root) and file.is_file():
            raise BadInputError(
                problem=f"{script}: names {file}, outside of {root}",
                remedy="give the folder within its whole suite, and choose scripts by `only`",
            )
    return [file for file in files if file.is_file()]
