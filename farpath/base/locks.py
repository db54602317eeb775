"""Locks: directories and files that a running process holds, and removal of stale ones.

A running process holds a lock (flock(2)) on each of its directories. The kernel releases
it when the process ends, however it ends and in whichever container it ran. The filelock package
locks no directories, accepts FIFOs and leaves its files behind
(decision 52 in docs/explanation/decisions).
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path as FilePath
from typing import IO

from farpath.base.errors import BadInputError
from farpath.base.files import open_regular, random_name

#: Prefix of the directories in which records are made.
PARTIAL = ".partial-"
#: Longest process id in decimal digits (PID_MAX_LIMIT, include/linux/threads.h).
_PID_LETTERS = 7
#: How long a lock is retried, since another process's clean-up may hold it for a moment, and
#: the pause between two attempts; both in real seconds.
SWEEP_LIMIT_S, RETRY_S = 0.5, 0.02
#: Pattern of the letters that ``random_name`` and tempfile.mkdtemp add to a prefix.
RANDOM_NAME = "[a-z0-9_]{8}"
#: Names that farpath gives. Files with similar names belong to the user and are kept.
_PARTIAL_NAME = re.compile(rf"\.partial-[0-9]+-{RANDOM_NAME}")
_LOCK_NAME = re.compile(r"\.(campaign|.+-[0-9a-f]{10})\.lock")


@contextmanager
def hold_directory(directory: FilePath) -> Iterator[None]:
    """Lock a directory for as long as the context lasts.

    On a file system that cannot lock directories (NFS) there is no lock, and
    ``remove_unheld`` removes nothing either.
    """
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def exclusive_lock(
    lock: FilePath, doing: str, remedy: str = "wait for it, or give another directory with `out`"
) -> Iterator[None]:
    """Hold a lock file that contains this process's id, and remove it at the end.

    ``doing``: what the lock protects, as a predicate for the message ("is making this record").
    ``remedy``: what to do while another process holds it.
    Raises BadInputError with the id of the process that holds the lock already.
    """
    with _taken(lock, doing, remedy) as file:
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        try:
            yield
        finally:
            if _is_same_file(file.fileno(), lock):
                lock.unlink(missing_ok=True)


def _taken(lock: FilePath, doing: str, remedy: str) -> IO[str]:
    """Open a lock file, create it if missing, and lock it (flock(2))."""
    end_s = time.monotonic() + SWEEP_LIMIT_S
    while True:
        file = os.fdopen(open_regular(lock, os.O_APPEND), "a+")
        taken = _lock(file.fileno())
        # Between the two calls its holder may have removed it, and another process made a new one.
        if _is_same_file(file.fileno(), lock):
            if taken:
                return file
            if time.monotonic() > end_s:
                with file:
                    file.seek(0)
                    holder = file.read(_PID_LETTERS).strip() or "another"
                    raise BadInputError(
                        problem=f"process {holder} {doing} already",
                        remedy=remedy,
                    )
            time.sleep(RETRY_S)
        file.close()


def _lock(handle: int) -> bool:
    """Lock an open file or directory without waiting; False if another process holds it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_same_file(handle: int, path: FilePath) -> bool:
    """Whether ``path`` still names the file that is open as ``handle``."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _remove_if_unheld(path: FilePath) -> bool:
    """Lock a file or directory and remove it; False if another process holds it or that fails."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        if not _lock(handle) or not _is_same_file(handle, path):
            return False
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(handle)
    return not path.exists()


@contextmanager
def fresh_partial(out: FilePath) -> Iterator[FilePath]:
    """Create and lock a directory in which a record is made; it is removed at the end."""
    while True:
        partial = out / random_name(f"{PARTIAL}{os.getpid()}-")
        try:
            partial.mkdir(0o700)
            with ExitStack() as held:
                # Until it is locked, another process's clean-up may remove it.
                with suppress(FileNotFoundError):
                    held.enter_context(hold_directory(partial))
                if partial.exists():
                    yield partial
                    return
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def remove_stale_partials(out: FilePath) -> list[FilePath]:
    """Remove partial records of processes that have ended; return the removed directories."""
    return remove_unheld(out, _PARTIAL_NAME)


def remove_stale_locks(out: FilePath) -> list[FilePath]:
    """Remove lock files that no process holds any more; return the removed files."""
    return remove_unheld(out, _LOCK_NAME)


def remove_unheld(
    directory: FilePath,
    names: re.Pattern[str],
    may_remove: Callable[[FilePath], bool] = lambda _file: True,
) -> list[FilePath]:
    """Remove the entries of a directory that match ``names`` and that no process has locked.

    Symbolic links are kept, and so are entries for which ``may_remove`` returns False. Returns the
    removed paths.
    """
    files = sorted(directory.iterdir()) if directory.is_dir() else []
    return [
        file
        for file in files
        if names.fullmatch(file.name)
        and not file.is_symlink()
        and may_remove(file)
        and _remove_if_unheld(file)
    ]
