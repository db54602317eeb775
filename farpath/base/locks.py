"""What killed runs leave behind, told apart from what living runs hold, and removed.

A living run holds a lock on each of its directories (flock(2)); the kernel lets go of
it with the process, however that ends and whichever container it was in.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path as FilePath
from typing import IO

from farpath.base.errors import BadInputError
from farpath.base.files import open_regular

PARTIAL = ".partial-"
#: Real seconds for which whoever sweeps may hold a lock, and between two looks.
SWEEP_LIMIT_S, LOOK_S = 0.5, 0.02
#: What tempfile.mkdtemp ends a name with.
RANDOM_NAME = "[a-z0-9_]{8}"
#: Names that farpath gives. Others that begin or end likewise are somebody's own, and stay.
_PARTIAL_NAME = re.compile(rf"\.partial-[0-9]+-{RANDOM_NAME}")
_LOCK_NAME = re.compile(r"\.(campaign|.+-[0-9a-f]{10})\.lock")


@contextmanager
def hold_directory(directory: FilePath) -> Iterator[None]:
    """Hold a directory for as long as the context lasts.

    On a file system that locks no directory (NFS) nothing is held, and nothing swept.
    """
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def exclusive_lock(lock: FilePath, doing: str) -> Iterator[None]:
    """Hold a file that says who does something here, and remove it at the end.

    Raises BadInputError that names the process which is ``doing`` it already.
    """
    with _taken(lock, doing) as file:
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        try:
            yield
        finally:
            if _stands_at(file.fileno(), lock):
                lock.unlink(missing_ok=True)


def _taken(lock: FilePath, doing: str) -> IO[str]:
    """Open the file at a lock's place, made if there is none, and lock it (flock(2))."""
    end_s = time.monotonic() + SWEEP_LIMIT_S
    while True:
        file = os.fdopen(open_regular(lock, os.O_APPEND), "a+")
        taken = _lock(file.fileno())
        # Between the two calls its holder may have removed it, and another made a new one.
        if _stands_at(file.fileno(), lock):
            if taken:
                return file
            if time.monotonic() > end_s:
                with file:
                    file.seek(0)
                    raise BadInputError(
                        f"process {file.read().strip() or 'another'} {doing} already: wait for "
                        "it, or give another place with OUT"
                    )
            time.sleep(LOOK_S)
        file.close()


def _lock(handle: int) -> bool:
    """Lock an open file or directory without waiting; False if another process holds it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _stands_at(handle: int, place: FilePath) -> bool:
    """Whether an open file is still the one that its place names."""
    try:
        return os.path.samestat(os.fstat(handle), place.stat())
    except FileNotFoundError:
        return False


def _is_removed(place: FilePath) -> bool:
    """Remove a file or directory that no process holds, held meanwhile; whether it was."""
    try:
        handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        if not _lock(handle) or not _stands_at(handle, place):
            return False
        if place.is_dir():
            shutil.rmtree(place, ignore_errors=True)
        else:
            place.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(handle)
    return not place.exists()


@contextmanager
def fresh_partial(out: FilePath) -> Iterator[FilePath]:
    """A held directory for a record in the making; what is left of it is removed."""
    while True:
        partial = FilePath(tempfile.mkdtemp(prefix=f"{PARTIAL}{os.getpid()}-", dir=out))
        with hold_directory(partial):
            # Between the two calls it was nobody's, and may have been swept.
            if not partial.exists():
                continue
            try:
                yield partial
            finally:
                shutil.rmtree(partial, ignore_errors=True)
            return


def remove_stale_partials(out: FilePath) -> list[FilePath]:
    """Remove half-made records whose maker is gone; returns what was removed."""
    return remove_unheld(out, _PARTIAL_NAME)


def remove_stale_locks(out: FilePath) -> list[FilePath]:
    """Remove lock files of records that nobody makes any more."""
    return remove_unheld(out, _LOCK_NAME)


def remove_unheld(
    directory: FilePath,
    names: re.Pattern[str],
    own: Callable[[FilePath], bool] = lambda _file: True,
) -> list[FilePath]:
    """Remove what a directory holds of some names and no process holds; returns what it was.

    Links stay, and what is not farpath's ``own``.
    """
    files = sorted(directory.iterdir()) if directory.is_dir() else []
    return [
        file
        for file in files
        if names.fullmatch(file.name) and not file.is_symlink() and own(file) and _is_removed(file)
    ]
