"""Program input: reads the stdin that a client of ``farpath exec`` gets, before the lab starts.

The stdin of a client is an input of its run like any other: it has to be known before the start,
and the same bytes have to come at the same virtual time in every run.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import select
import stat
import time
from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.spec.programs import FILE_INPUT, NO_INPUT, PIPE_INPUT

LOG = logging.getLogger(__name__)
#: Most bytes of stdin: they are held in memory.
MOST_BYTES = 64 << 20
#: How long a pipe may give neither a byte nor its end, in real s, until it counts as empty.
#: Runners of CI and ssh without a terminal have a pipe that never ends.
FIRST_BYTE_S = 3.0
#: Real seconds after which a message says that the end of stdin is awaited.
SAY_S = 5.0
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Input:
    """The client's stdin: its kind (``farpath.spec.programs``) and its bytes."""

    kind: str = NO_INPUT
    data: bytes = b""

    @property
    def sha256(self) -> str:
        """The SHA-256 of its bytes; empty without any."""
        return hashlib.sha256(self.data).hexdigest() if self.kind else ""


def read_input(
    descriptor: int, wanted: bool | None = None, first_byte_s: float = FIRST_BYTE_S
) -> Input:
    """Read the client's stdin to its end.

    ``wanted``: whether to read it; None reads pipes and files, and neither terminals nor devices.
    In that case a file that another program has begun to read is left to it, as in a shell's loop
    ``while read``, and a pipe that gives nothing for ``first_byte_s`` counts as empty. A file is
    read without moving its offset. Raises BadInputError for more than ``MOST_BYTES``.
    """
    if wanted is False:
        return Input()
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode):
            return _of_file(descriptor, bool(wanted))
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or wanted:
            return _of_pipe(descriptor, None if wanted else first_byte_s)
    except OSError as error:
        if error.errno in (errno.EBADF, errno.EISDIR):
            return Input()
        raise BadInputError(
            problem=f"stdin cannot be read: {error.strerror}", remedy="give < /dev/null"
        ) from error
    return Input()


def _of_file(descriptor: int, wanted: bool) -> Input:
    at = os.lseek(descriptor, 0, os.SEEK_CUR)
    size = os.fstat(descriptor).st_size - at
    if size <= 0:
        return Input()
    if at and not wanted:
        LOG.warning(
            "stdin is a file that another program reads, such as a shell's loop: the client's is "
            "empty; --stdin passes the rest on, --no-stdin says that it is not wanted"
        )
        return Input()
    _check_size(size)
    parts = []
    while chunk := os.pread(descriptor, CHUNK_BYTES, at):
        parts.append(chunk)
        at += len(chunk)
        _check_size(sum(map(len, parts)))
    return _found(FILE_INPUT, parts)


def _of_pipe(descriptor: int, first_byte_s: float | None) -> Input:
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    if first_byte_s is not None and not poller.poll(first_byte_s * 1e3):
        LOG.warning(
            f"stdin is a pipe that gave nothing for {first_byte_s:g} s: the client's is empty; "
            "--stdin waits for its end, --no-stdin or < /dev/null says that there is none"
        )
        return Input()
    parts: list[bytes] = []
    say_s: float | None = time.monotonic() + SAY_S
    while True:
        if say_s is not None and not poller.poll(max(0.0, say_s - time.monotonic()) * 1e3):
            LOG.warning(
                f"waiting for the end of stdin, of which {sum(map(len, parts)):,} bytes came"
            )
            say_s = None
        if not (chunk := os.read(descriptor, CHUNK_BYTES)):
            return _found(PIPE_INPUT, parts)
        parts.append(chunk)
        _check_size(sum(map(len, parts)))


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        raise BadInputError(
            problem=f"stdin has more than {MOST_BYTES >> 20} MiB, the most that is passed on",
            remedy="put it into a file, which the client may read in `share`",
        )


def _found(kind: str, parts: list[bytes]) -> Input:
    data = b"".join(parts)
    if not data:
        return Input()
    LOG.info(f"exec: stdin is {len(data):,} bytes of a {kind}, which the client gets")
    return Input(kind, data)
