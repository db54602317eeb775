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
#: Largest file that is read at once, in bytes. farpath's largest, the figures of a campaign, is
#: below 1 MB.
LARGEST_BYTES = 64 << 20
#: Where the kernel shows the streams of a process as files, to which /dev/stdout leads.
_PROCESS_FILES = "/proc/"
#: Longest chain of symbolic links that the kernel follows (MAXSYMLINKS, include/linux/namei.h).
_MOST_LINKS = 40
#: Limits of a process or a user, by errno, with what raises them.
LIMITS = {
    errno.EFBIG: "raise the limit of file sizes, as with ulimit -f unlimited",
    errno.EMFILE: "raise the limit of open files, as with ulimit -n 1024",
    errno.ENFILE: "close other programs: the machine has no open file left",
    errno.EAGAIN: "raise the limit of processes, as with ulimit -u, or close other programs",
    errno.ENOMEM: "close other programs, or raise the limit of memory, as with ulimit -v unlimited",
}
#: Longest text that goes into a file name, in characters; most file systems allow 255 bytes.
NAME_LETTERS = 60


@contextmanager
def user_errors(path: FilePath) -> Iterator[None]:
    """Translate OSErrors from writing ``path`` into user-facing errors.

    Raises MachineLacksError for a full disk, a quota or a limit of this process, and BadInputError
    if ``path`` cannot be written. Other errors pass unchanged.
    """
    if path.parts[:1] == ("-",):
        raise BadInputError(
            problem="'-' is no file: results go to stdout without it",
            remedy="give the name of a file or directory",
        )
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise MachineLacksError(
                f"no space left under {path}: free some, or give another directory with `out`"
            ) from error
        if error.errno in LIMITS:
            raise MachineLacksError(
                f"{path} cannot be written ({error.strerror}): {LIMITS[error.errno]}"
            ) from error
        if error.errno in NOT_WRITABLE:
            raise BadInputError(
                problem=f"{path} cannot be written ({error.strerror})",
                remedy="give another directory with `out`",
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
        problem=f"{file} is not a regular file",
        remedy="remove it, or give another directory with `out`",
    )


def read_regular(file: FilePath, most_bytes: int = LARGEST_BYTES) -> bytes:
    """Read a file that the user named, as far as it is a regular file and not too long.

    Raises OSError, whose ``strerror`` says for people what is wrong, also for a FIFO, a socket or
    a device, which might never end, and for more than ``most_bytes``.
    """
    try:
        # Without blocking: a FIFO is opened at once, and a file of /proc has its present content
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error), str(file)) from error
    with os.fdopen(handle, "rb") as stream:
        mode = os.fstat(stream.fileno()).st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, f"it is {kind_of(mode)}, no regular file", str(file))
        content = stream.read(most_bytes + 1)
    if content is None:
        raise OSError(errno.EAGAIN, "it has nothing to read now", str(file))
    if len(content) > most_bytes:
        size = f"{most_bytes >> 20} MiB" if most_bytes >> 20 else f"{most_bytes} bytes"
        raise OSError(errno.EFBIG, f"it holds more than {size}", str(file))
    return content


@contextmanager
def resource_errors() -> Iterator[None]:
    """Translate OSErrors of a whole command into user-facing errors.

    This is a fallback for errors that no inner handler explains. Raises MachineLacksError for a
    full disk and for limits of the process, and BadInputError for a name that is too long or not
    permitted. A missing file passes unchanged: its caller knows more about it.
    """
    try:
        yield
    except MemoryError as error:
        raise MachineLacksError(
            "no memory is left for farpath: close other programs, or raise the limit of this "
            "shell, as with ulimit -v unlimited"
        ) from error
    except shutil.Error as error:
        # Copying a directory goes on after a failure: each has its source, target and message
        _source, target, problem = error.args[0][0]
        raise MachineLacksError(
            f"{target} cannot be written ({problem}): free space there, or raise the limit of file "
            "sizes, as with ulimit -f unlimited"
        ) from error
    except OSError as error:
        if error.errno in LIMITS:
            name = error.filename or "a file or process"
            raise MachineLacksError(f"{name}: {error.strerror}: {LIMITS[error.errno]}") from error
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            place = error.filename or "a file"
            raise MachineLacksError(f"no space left for {place}: free some") from error
        if error.filename is not None and error.errno in NOT_USABLE:
            raise BadInputError(
                problem=f"{error.filename}: cannot be used ({error.strerror})",
                remedy="give another file",
            ) from error
        raise


def require_unicode(text: str) -> None:
    """Raise BadInputError if a name is not valid UTF-8, which pages and records require."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raw_name = text.encode(errors="surrogateescape")
        raise BadInputError(
            problem=f"{str(raw_name)[1:]} is not UTF-8",
            remedy="give names that are; rename a file with mv",
        ) from error


def random_name(prefix: str) -> str:
    """Return ``prefix`` and eight random letters: a name for a temporary file or directory.

    The caller removes the file or directory after any exception, which a signal may raise between
    any two calls. The functions of tempfile make theirs before they return its name.
    """
    return prefix + secrets.token_hex(4)


def apply_umask(directory: FilePath) -> None:
    """Open a directory that was made for its owner alone, as far as the umask allows."""
    status = FilePath("/proc/self/status").read_text(encoding="ascii", errors="replace")
    (umask,) = (line.split()[1] for line in status.splitlines() if line.startswith("Umask:"))
    directory.chmod(0o777 & ~int(umask, 8))


def kind_of(mode: int) -> str:
    """Return the kind of a file by its mode, for people.

    >>> kind_of(stat.S_IFIFO | 0o644)
    'a FIFO'
    """
    kinds = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFREG: "a regular file",
    }
    return kinds.get(stat.S_IFMT(mode), "a device")


def _is_of_a_process(file: FilePath) -> bool:
    """Whether a name, or a link to which it leads, is a stream of a process, as /dev/stdout is."""
    for _ in range(_MOST_LINKS):
        file = file.parent.resolve() / file.name
        if str(file).startswith(_PROCESS_FILES):
            return True
        if not file.is_symlink():
            return False
        file = file.parent / file.readlink()
    return False


def require_replaceable(file: FilePath, directory: bool = False) -> None:
    """Raise BadInputError if writing a file by renaming would replace a file of another kind.

    The name must be free, a regular file or a symbolic link to one, which is replaced itself: its
    target stays. ``directory``: a directory is written, and may replace only a directory.
    """
    advice = "give the name of a new file" if not directory else "give the name of a new directory"
    if _is_of_a_process(file):
        raise BadInputError(
            problem=(
                f"{file} cannot be written: it is a stream of a process, and results go "
                "to stdout without it"
            ),
            remedy=advice,
        )
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not (stat.S_ISDIR(mode) if directory else stat.S_ISREG(mode)):
        raise BadInputError(
            problem=f"{file} cannot be written: it is {kind_of(mode)}, which would be replaced",
            remedy=advice,
        )


def require_directory(directory: FilePath, option: str = "out") -> None:
    """Raise BadInputError if a name is no directory and cannot become one, and as ``user_errors``.

    Commands of several runs call it before the first run and before anything is built. ``option``:
    the option that names the directory.
    """
    require_unicode(str(directory))
    with user_errors(directory):
        for place in (directory, *directory.parents):
            try:
                mode = place.stat().st_mode
            except (FileNotFoundError, NotADirectoryError):
                continue
            if not stat.S_ISDIR(mode):
                what = "" if place == directory else f"cannot be made: {place} "
                raise BadInputError(
                    problem=f"{directory} {what}is {kind_of(mode)}, no directory",
                    remedy=f"give another directory with `{option}`",
                )
            return


def make_directory(directory: FilePath) -> None:
    """Make a directory and its parents unless it is there; raises as ``require_directory``."""
    require_directory(directory)
    with user_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)


def write_bytes(file: FilePath, data: bytes) -> None:
    """Write a file atomically and create its parent directories.

    It has the mode that the umask leaves. Raises as ``user_errors`` and ``require_replaceable``.
    """
    with user_errors(file):
        require_replaceable(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.parent / random_name(f".{file.name[:NAME_LETTERS]}-")
        try:
            with temporary.open("xb") as stream:
                stream.write(data)
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)


def replace_directory(fresh: FilePath, target: FilePath) -> None:
    """Rename the directory ``fresh`` to ``target`` and remove any former directory there.

    The former directory is restored if the renaming fails or is interrupted. If ``target`` is
    a symbolic link, the link is replaced and the directory it points to stays. Raises BadInputError
    if ``target`` is no directory.
    """
    require_replaceable(target, directory=True)
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
