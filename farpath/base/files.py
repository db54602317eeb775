"""Places: where files go, and a file system's refusals as one clear line."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError, MachineLacksError

NOT_WRITABLE = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
    errno.ENOENT,
    errno.ELOOP,
)
#: Why a file that a user named cannot be used.
NOT_USABLE = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ENAMETOOLONG,
    errno.ELOOP,
)
#: What a new file's mode is before the process's mask.
NEW_FILE_MODE = 0o644
#: As much of a text goes into a file's name.
NAME_LETTERS = 60


@contextmanager
def user_errors(place: FilePath) -> Iterator[None]:
    """Turn the file system's refusals into one clear line.

    MachineLacksError for a full disk, BadInputError for a place that cannot be written.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise MachineLacksError(
                f"no space left under {place}: free some, or give another place with OUT"
            ) from error
        if error.errno in NOT_WRITABLE:
            raise BadInputError(
                f"{place} cannot be written ({error.strerror}): give another place with OUT"
            ) from error
        raise


def open_regular(file: FilePath, flags: int = 0) -> int:
    """Open a regular file to read and write it, made if there is none; its descriptor.

    Raises BadInputError for a fifo, which would wait for ever, a device and the like.
    """
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | flags, 0o666)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise BadInputError(f"{file} is no regular file: remove it, or give another place with OUT")


@contextmanager
def resource_errors() -> Iterator[None]:
    """Turn what the file system refuses of a file that a user named into one clear line.

    For a whole command, around what says more. Raises MachineLacksError for a full disk and
    BadInputError for a name that is too long or may not be used; a file that is merely not
    there is left to who looked for it.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise MachineLacksError(f"no space left for {error.filename}: free some") from error
        if error.errno in NOT_USABLE:
            raise BadInputError(
                f"{error.filename}: cannot be used ({error.strerror}): give another"
            ) from error
        raise


def require_unicode(text: str) -> None:
    """Raise BadInputError for a name that is not UTF-8: pages and records could not hold it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        shown = text.encode(errors="surrogateescape")
        raise BadInputError(
            f"{str(shown)[1:]} is not UTF-8: give names that are; rename a file with mv"
        ) from error


def write_bytes(file: FilePath, data: bytes) -> None:
    """A file with its folders, whole or not at all; raises as :func:`user_errors`."""
    with user_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name[:NAME_LETTERS]}-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            FilePath(beside).chmod(NEW_FILE_MODE)
            FilePath(beside).replace(file)
        finally:
            FilePath(beside).unlink(missing_ok=True)


def replace_directory(fresh: FilePath, place: FilePath) -> None:
    """Put a directory at a place, where another may be, which is removed.

    What was there is back if that fails or is interrupted. A link at the place is
    replaced, and not what it leads to.
    """
    former = fresh / "replaced"
    try:
        if os.path.lexists(place):
            place.rename(former)
        fresh.rename(place)
    except BaseException:
        if os.path.lexists(former) and not os.path.lexists(place):
            former.rename(place)
        raise
    remove_directory(place / former.name)


def remove_directory(place: FilePath) -> None:
    """Remove a directory, or a link to one and not what it leads to; or nothing if it is gone."""
    if place.is_symlink():
        place.unlink()
    else:
        shutil.rmtree(place, ignore_errors=True)


def write_text(file: FilePath, text: str) -> None:
    """The same of a text, as UTF-8."""
    write_bytes(file, text.encode())


def safe_name(text: str) -> str:
    """A text that may hold anything as part of a file's name: ASCII letters, digits, - and _."""
    kept = (char if char.isascii() and (char.isalnum() or char in "-_") else "_" for char in text)
    return "".join(kept)[:NAME_LETTERS] or "_"
