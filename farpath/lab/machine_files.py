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

from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, Place, Programs
from farpath.spec.protocol import MACHINE_ROOT
from farpath.spec.services import Services

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
    commands = {CLIENT_HOST: (programs.client,), SERVER_HOST: programs.servers}
    started = [(place, commands[host]) for host, place in programs.places.items()]
    read = [*_directories(started), *([FilePath(programs.share)] if programs.share else [])]
    return _digests(started, read[:1], left_out)


def service_digests(
    services: Services, directories: Sequence[FilePath], left_out: Sequence[FilePath]
) -> dict[str, str | None]:
    """Return digests as ``digests`` does, of files that services can read.

    ``directories``: of this machine, in the order of volumes' numbers. ``directory`` is all
    directories in which services start and all volumes of this machine, a file by its content.
    """
    started = [
        (one.place, (one.command, *((one.health.command,) if one.health else ())))
        for one in services.services
    ]
    volumes = {
        directories[volume.number] / volume.file
        for one in services.services
        for volume in one.volumes
        if volume.number >= 0
    }
    return _digests(started, [*_directories(started), *sorted(volumes)], left_out)


#: The place of programs and their commands.
_Started = tuple[Place, Sequence[Sequence[str]]]


def _directories(started: Sequence[_Started]) -> list[FilePath]:
    """Return the directories of this machine in which programs start."""
    return list(dict.fromkeys(FilePath(place.directory) for place, _ in _at_machine(started)))


def _at_machine(started: Sequence[_Started]) -> list[_Started]:
    return [(place, commands) for place, commands in started if place.root == MACHINE_ROOT]


def _digests(
    started: Sequence[_Started], read: Sequence[FilePath], left_out: Sequence[FilePath]
) -> dict[str, str | None]:
    """Return the digests of commands by their places, and of directories and files they read."""
    found: dict[str, str | None] = {}
    if at_machine := _at_machine(started):
        found["packages"] = _sha256(map(_content_or_listing, map(FilePath, PACKAGE_DATABASES)))
        found["settings"] = _listing(FilePath(SETTINGS))
        places = {
            file
            for place, commands in at_machine
            for command in commands
            for file in _places_of(command, FilePath(place.directory), _path_of(place))
        }
        found["programs"] = _sha256(map(_content_or_listing, sorted(places)))
    if read:
        listings = [_content_or_listing(place, left_out) for place in read]
        found["directory"] = None if None in listings else _sha256(listings)
    return found


def _path_of(place: Place) -> str:
    variables = dict(word.split("=", 1) for word in place.environment)
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


def _content_or_listing(place: FilePath, left_out: Sequence[FilePath] = ()) -> str | None:
    """Return the digest of a file's content or of a directory's listing; None if there is none."""
    if place.is_dir():
        return _listing(place, left_out)
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
