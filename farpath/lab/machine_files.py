"""Machine files: the files of this machine that programs in the lab can read, as a few digests.

The guest reads these files through hostfs, and nothing tells which. So a record keeps digests of
packages, settings, programs and directories, taken before the guest starts. Two records with equal
digests may have read different files; with different ones they have a reason to differ.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path as FilePath

from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, Programs
from farpath.spec.protocol import MACHINE_ROOT

#: Databases of installed packages: Debian's, Alpine's, Red Hat's and SUSE's, Arch's.
PACKAGE_DATABASES = (
    "/var/lib/dpkg/status",
    "/lib/apk/db/installed",
    "/var/lib/rpm",
    "/usr/lib/sysimage/rpm",
    "/var/lib/pacman/local",
)
SETTINGS = "/etc"
#: Prefixes whose files are those of packages.
PACKAGED = ("/", "/usr")
#: Most files of a directory whose names are read, which takes some tenths of a second of CPU.
MOST_FILES = 20_000


def digests(programs: Programs, left_out: Sequence[FilePath]) -> dict[str, str | None]:
    """Return SHA-256 digests of files that programs can read; None beyond ``MOST_FILES``.

    ``packages``: contents or listings of databases. ``settings``: the listing of /etc.
    ``programs``: contents of each program, the listing of the prefix that it is installed in, and
    files that a command names. ``directory``: the listing of the directory in which programs start,
    without ``left_out``, as the directory of records. A listing has name, size and time of change
    of each file. With roots other than this machine's there is at most ``directory``.
    """
    at_machine = {
        host: FilePath(place.directory)
        for host, place in programs.places.items()
        if place.root == MACHINE_ROOT
    }
    found: dict[str, str | None] = {}
    if at_machine:
        found["packages"] = _sha256(map(_content_or_listing, map(FilePath, PACKAGE_DATABASES)))
        found["settings"] = _listing(FilePath(SETTINGS))
        commands = {CLIENT_HOST: (programs.client,), SERVER_HOST: programs.servers}
        places = {
            place
            for host, directory in at_machine.items()
            for command in commands[host]
            for place in _places_of(command, directory, _path_of(programs, host))
        }
        found["programs"] = _sha256(map(_content_or_listing, sorted(places)))
    if shared := [*at_machine.values(), *([FilePath(programs.share)] if programs.share else [])]:
        found["directory"] = _listing(shared[0], left_out)
    return found


def _path_of(programs: Programs, host: str) -> str:
    variables = dict(word.split("=", 1) for word in programs.places[host].environment)
    return variables.get("PATH", os.defpath)


def _places_of(command: Sequence[str], directory: FilePath, path: str) -> Iterator[FilePath]:
    """Yield a command's program, the prefix that it is installed in, and files that it names."""
    name = command[0]
    found = directory / name if "/" in name else FilePath(shutil.which(name, path=path) or name)
    for file in (found, FilePath(os.path.realpath(found))):
        yield file
        prefix = file.parent.parent
        if file.parent.name in ("bin", "sbin") and str(prefix) not in PACKAGED:
            yield prefix
    for word in command[1:]:
        with suppress(OSError, ValueError):
            if (directory / word).is_file():
                yield directory / word


def _sha256(parts: Iterable[str | None]) -> str:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def _content_or_listing(place: FilePath) -> str | None:
    """Return the digest of a file's content or of a directory's listing; None if there is none."""
    if place.is_dir():
        return _listing(place)
    try:
        with place.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _listing(directory: FilePath, left_out: Sequence[FilePath] = ()) -> str | None:
    """Return the digest of names, sizes and times of all files below a directory."""
    kept_out = {os.path.realpath(place) for place in left_out}
    lines: list[str] = []
    waiting = [os.path.realpath(directory)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    state = entry.stat(follow_symlinks=False)
                    lines.append(f"{entry.path!r} {state.st_size} {state.st_mtime_ns}")
                elif entry.path not in kept_out:
                    waiting.append(entry.path)
        if len(lines) > MOST_FILES:
            return None
    return _sha256(sorted(lines))
