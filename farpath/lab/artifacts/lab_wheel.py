"""The lab's wheel: unpacks the built parts of an installed lab into the cache, once.

The package ``farpath_lab`` has one archive with kernel, modules and root file systems, laid out as
a clone's ``build`` directory links to them. It is unpacked beside its place and renamed, so that
no process sees half of it.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import platform
import shutil
import tarfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path as FilePath
from typing import Any

from farpath import __version__
from farpath.base import project
from farpath.base.errors import MachineLacksError
from farpath.base.locks import fresh_partial, hold_directory, remove_stale_partials

LOG = logging.getLogger(__name__)
#: Names in the archive and in the cache: the parts, and the links to them that ``build`` has too.
PARTS, LINKS = "parts", "build"
#: List of the archive's files, in the package: in each line size, SHA-256 or nothing, and path.
#: Files on which every packet depends have a SHA-256: kernel and modules.
FILES = "files.tsv"
#: Free disk for each byte of a file: small files take whole blocks.
BLOCKS = 1.15
INSTALL = f"pip install 'farpath[lab]=={__version__}'"
INSTALL_AGAIN = f"pip install --force-reinstall --no-deps --no-cache-dir farpath-lab=={__version__}"


def part(build: FilePath, name: str) -> FilePath:
    """Return the directory of a part of the lab, as kernel, lab, sender or stacks; as ``provide``.

    It need not exist in a clone, whose parts ``make setup`` builds.
    """
    provide(build)
    return (build / name).resolve()


def provide(build: FilePath) -> None:
    """Unpack the lab of an installed farpath unless it is there; a clone has its own.

    ``build``: the directory with links to the lab's parts. Raises MachineLacksError if no lab of
    this version is installed, if its archive or an unpacked file is damaged, and if the cache
    cannot hold it.
    """
    if project.IS_CLONE or build != project.BUILD:
        return
    if (library := platform.libc_ver()[0]) != "glibc":
        raise MachineLacksError(
            f"this Python's C library is {library or 'another'}, not glibc, for which alone there "
            "is a lab: use a distribution with glibc, or a container of one"
        )
    if project.LAB is None:
        raise MachineLacksError(
            f"no lab is installed beside farpath {__version__}: {INSTALL}, or use a clone"
        )
    described = _described(project.LAB)
    if described["version"] != __version__:
        raise MachineLacksError(
            f"farpath {__version__} cannot use farpath-lab {described['version']}: {INSTALL}"
        )
    _provide(project.LAB, build.parent)


def _described(package: FilePath) -> Mapping[str, Any]:
    try:
        described = project.lab_description(package)
        return {
            name: described[name] for name in ("version", "release", "archive", "sha256", "bytes")
        }
    except (OSError, ValueError, KeyError) as error:
        raise MachineLacksError(
            f"{package / project.LAB_FILE} is damaged ({error}): {INSTALL_AGAIN}"
        ) from error


@cache
def _provide(package: FilePath, place: FilePath) -> None:
    """Unpack a package's archive into a place of the cache, and check the files there."""
    with _cache_errors(place):
        place.mkdir(parents=True, exist_ok=True)
        if os.statvfs(place).f_flag & os.ST_NOEXEC:
            raise MachineLacksError(
                f"programs in {place} cannot be started, as it is mounted noexec: set "
                "FARPATH_CACHE to a directory on another file system"
            )
        if not (place / PARTS).is_dir():
            if any(place.glob(".partial-*")):
                LOG.info("waiting for another process, which unpacks the lab")
            with hold_directory(place):
                remove_stale_partials(place)
                if not (place / PARTS).is_dir():
                    _unpack(package, place)
    _check_files(package, place)


@contextmanager
def _cache_errors(place: FilePath) -> Iterator[None]:
    """Translate OSErrors of the cache into user-facing errors."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        problem = "has no space left" if full else f"cannot be written ({error.strerror})"
        raise MachineLacksError(
            f"{place} {problem}, and the lab is unpacked there once: "
            f"{'free some, or ' if full else ''}set FARPATH_CACHE to another directory"
        ) from error


def _unpack(package: FilePath, place: FilePath) -> None:
    """Unpack a package's archive into a directory whose lock this process has."""
    described = _described(package)
    archive = package / described["archive"]
    size_bytes = int(described["bytes"])
    if shutil.disk_usage(place).free < BLOCKS * size_bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(place))
    LOG.info(f"unpacking the lab once, {size_bytes // 1_000_000} MB, into {place}")
    began_s = time.monotonic()
    _check_archive(archive, described["sha256"])
    with fresh_partial(place) as partial:
        try:
            _extract(archive, partial)
        except (tarfile.TarError, EOFError) as error:
            raise MachineLacksError(
                f"{archive} cannot be unpacked ({error}): use a Python with the module lzma, or "
                f"{INSTALL_AGAIN}"
            ) from error
        (place / LINKS).mkdir(exist_ok=True)
        for link in sorted((partial / LINKS).iterdir()):
            link.replace(place / LINKS / link.name)
        (partial / PARTS).rename(place / PARTS)
    LOG.info(f"unpacked the lab in {time.monotonic() - began_s:.0f} s")


def _check_archive(archive: FilePath, sha256: str) -> None:
    try:
        with archive.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        found = "that there is none"
    if found != sha256:
        raise MachineLacksError(
            f"{archive} is damaged (its SHA-256 begins with {found[:12]}, not with {sha256[:12]}): "
            f"{INSTALL_AGAIN}"
        )


def _extract(archive: FilePath, directory: FilePath) -> None:
    """Extract an archive with its files' modes, whatever the umask is; they are the caller's."""
    with tarfile.open(archive, "r|xz") as stream:
        # The roots have absolute links, which other filters refuse; a Python before 3.11.4 has none
        stream.extraction_filter = lambda member, _path: member
        stream.extractall(directory)


def _check_files(package: FilePath, place: FilePath) -> None:
    """Raise MachineLacksError if an unpacked file has another size or, where known, content."""
    for line in (package / FILES).read_text(encoding="utf-8").splitlines():
        size, sha256, name = line.split("\t")
        file = place / name
        try:
            whole = file.lstat().st_size == int(size) and (
                not sha256 or hashlib.sha256(file.read_bytes()).hexdigest() == sha256
            )
        except OSError:
            whole = False
        if not whole:
            raise MachineLacksError(
                f"{file} is not as it was unpacked: remove {place / PARTS} (rm -r), and the next "
                "call unpacks the lab again"
            )


def origin() -> str:
    """Return the kernel's release and place of an installed lab, for people; unpacks nothing."""
    if project.LAB is None:
        return "no lab installed"
    described = _described(project.LAB)
    place = project.BUILD.parent
    where = f"in {place}" if (place / PARTS).is_dir() else f"to be unpacked into {place}"
    wheel = f"wheel farpath-lab {described['version']}"
    return f"lab's kernel {described['release']} of the {wheel}, {where}"
