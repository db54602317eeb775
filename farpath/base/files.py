"""Files: atomic writes, directory replacement, and OSErrors as user-facing errors."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError, MachineLacksError

#: errno values that mean that an output cannot be written where the user asked for it.
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
    errno.EBUSY,
)
#: errno values that mean that a file named by the user cannot be used.
NOT_USABLE = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ENAMETOOLONG,
    errno.ELOOP,
)
#: Mode of a new file, whatever the umask.
NEW_FILE_MODE = 0o644
#: Longest text that goes into a file name, in characters; most file systems allow 255 bytes.
NAME_LETTERS = 60


@contextmanager
def user_errors(path: FilePath) -> Iterator[None]:
    """Translate OSErrors from writing ``path`` into user-facing errors.

    Raises MachineLacksError for a full disk or quota, and BadInputError if ``path`` cannot be
    written. Other errors pass unchanged.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise MachineLacksError(
                f"no space left under {path}: free some, or give another directory with OUT"
            ) from error
        if error.errno in NOT_WRITABLE:
            raise BadInputError(
                f"{path} cannot be written ({error.strerror}): give another directory with OUT"
            ) from error
        raise


def open_regular(file: FilePath, flags: int = 0) -> int:
    """Open a regular file for reading and writing, create it if missing; return its descriptor.

    Raises BadInputError if the file is a FIFO, on which opening could block, or a device.
    """
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | flags, 0o666)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise BadInputError(
        f"{file} is not a regular file: remove it, or give another directory with OUT"
    )


@contextmanager
def resource_errors() -> Iterator[None]:
    """Translate OSErrors about files that the user named into user-facing errors.

    This wraps a whole command, as a fallback for errors that no inner handler explains.
    Raises MachineLacksError for a full disk, and BadInputError for a name that is too long or
    not permitted. A missing file passes unchanged: its caller knows more about it.
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
                f"{error.filename}: cannot be used ({error.strerror}): give another file"
            ) from error
        raise


def require_unicode(text: str) -> None:
    """Raise BadInputError if a name is not valid UTF-8, which pages and records require."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raw_name = text.encode(errors="surrogateescape")
        raise BadInputError(
            f"{str(raw_name)[1:]} is not UTF-8: give names that are; rename a file with mv"
        ) from error


def random_name(prefix: str) -> str:
    """Return ``prefix`` and eight random letters: a name for a temporary file or directory.

    Whoever makes it removes it after any exception, which a signal may raise between any two
    calls. The functions of tempfile make it before they tell its name.
    """
    return prefix + secrets.token_hex(4)


def write_bytes(file: FilePath, data: bytes) -> None:
    """Write a file atomically and create its parent directories; raises as ``user_errors``."""
    with user_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.parent / random_name(f".{file.name[:NAME_LETTERS]}-")
        try:
            with temporary.open("xb") as stream:
                stream.write(data)
            temporary.chmod(NEW_FILE_MODE)
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)


def replace_directory(fresh: FilePath, target: FilePath) -> None:
    """Rename the directory ``fresh`` to ``target`` and remove any former directory there.

    The former directory is restored if the renaming fails or is interrupted. If ``target`` is
    a symbolic link, the link is replaced and the directory it points to stays.
    """
    former = fresh / "replaced"
    try:
        if os.path.lexists(target):
            target.rename(former)
        fresh.rename(target)
    except BaseException:
        if os.path.lexists(former) and not os.path.lexists(target):
            former.rename(target)
        raise
    remove_directory(target / former.name)


def remove_directory(directory: FilePath) -> None:
    """Remove a directory if it exists; of a symbolic link to one, only the link."""
    if directory.is_symlink():
        directory.unlink()
    else:
        shutil.rmtree(directory, ignore_errors=True)


def write_text(file: FilePath, text: str) -> None:
    """Write a text as UTF-8, as ``write_bytes`` does."""
    write_bytes(file, text.encode())


def safe_name(text: str) -> str:
    """Turn any text into part of a file name: ASCII letters, digits, - and _ alone."""
    characters = (
        char if char.isascii() and (char.isalnum() or char in "-_") else "_" for char in text
    )
    return "".join(characters)[:NAME_LETTERS] or "_"
