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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path as FilePath

from farpath.errors import BadInputError
from farpath.plan import PLAN_FILE

PARTIAL = ".partial-"
#: How the directories that host and guest share are called, in the place for
#: temporary files.
SHARE = "farpath-"
#: What tempfile.mkdtemp ends a name with.
_RANDOM = "[a-z0-9_]{8}"
#: Names that farpath gives. Others that begin or end likewise are somebody's own, and stay.
_PARTIAL_NAME = re.compile(rf"\.partial-[0-9]+-{_RANDOM}")
_SHARE_NAME = re.compile(rf"farpath-{_RANDOM}")
_LOCK_NAME = re.compile(r"\.(campaign|.+-[0-9a-f]{10})\.lock")


@contextmanager
def held(directory: FilePath) -> Iterator[None]:
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
def alone(lock: FilePath, doing: str) -> Iterator[None]:
    """Hold a file that says who does something here, and remove it at the end.

    Raises BadInputError that names the process which is ``doing`` it already.
    """
    with lock.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise BadInputError(
                f"process {file.read().strip() or 'another'} {doing} already: wait for it, or "
                "give another place with OUT"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _is_free(place: FilePath) -> bool:
    """Whether no process holds a file or directory; False if it is gone by now."""
    try:
        handle = os.open(place, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


@contextmanager
def fresh_partial(out: FilePath) -> Iterator[FilePath]:
    """A held directory for a record in the making; what is left of it is removed."""
    while True:
        partial = FilePath(tempfile.mkdtemp(prefix=f"{PARTIAL}{os.getpid()}-", dir=out))
        with held(partial):
            # Between the two calls it was nobody's, and may have been swept.
            if not partial.exists():
                continue
            try:
                yield partial
            finally:
                shutil.rmtree(partial, ignore_errors=True)
            return


def sweep_partials(out: FilePath) -> list[FilePath]:
    """Remove half-made records whose maker is gone; returns what was removed."""
    return _removed(_named(out, _PARTIAL_NAME))


def sweep_shares(place: FilePath) -> list[FilePath]:
    """Remove shared directories of dead runs, known by the plan in them."""
    found = _named(place, _SHARE_NAME)
    return _removed([share for share in found if (share / PLAN_FILE).is_file()])


def sweep_locks(out: FilePath) -> list[FilePath]:
    """Remove lock files of records that nobody makes any more."""
    free = [lock for lock in _named(out, _LOCK_NAME) if lock.is_file() and _is_free(lock)]
    for lock in free:
        lock.unlink(missing_ok=True)
    return free


def _named(place: FilePath, pattern: re.Pattern[str]) -> list[FilePath]:
    """What a directory holds of a pattern's names, links apart."""
    files = sorted(place.iterdir()) if place.is_dir() else []
    return [file for file in files if pattern.fullmatch(file.name) and not file.is_symlink()]


def _removed(directories: list[FilePath]) -> list[FilePath]:
    free = [directory for directory in directories if _is_free(directory)]
    for directory in free:
        shutil.rmtree(directory, ignore_errors=True)
    return [directory for directory in free if not directory.exists()]
