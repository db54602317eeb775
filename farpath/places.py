"""Places: where files go, and a file system's refusals as one clear line."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath

from farpath.errors import BadInputError, MachineLacksError

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
#: What a new file's mode is before the process's mask.
NEW_FILE_MODE = 0o644
#: As much of a text goes into a file's name.
NAME_LETTERS = 60


@contextmanager
def explained(place: FilePath) -> Iterator[None]:
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


def write_bytes(file: FilePath, data: bytes) -> None:
    """A file with its folders, whole or not at all; raises as :func:`explained`."""
    with explained(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            FilePath(beside).chmod(NEW_FILE_MODE)
            FilePath(beside).replace(file)
        finally:
            FilePath(beside).unlink(missing_ok=True)


def write_text(file: FilePath, text: str) -> None:
    """The same of a text, as UTF-8."""
    write_bytes(file, text.encode())


def safe_name(text: str) -> str:
    """A text that may hold anything as part of a file's name: ASCII letters, digits, - and _."""
    kept = (char if char.isascii() and (char.isalnum() or char in "-_") else "_" for char in text)
    return "".join(kept)[:NAME_LETTERS] or "_"
