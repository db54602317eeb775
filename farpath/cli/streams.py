"""Streams: stdout and stderr that may become unwritable during a command.

A command never fails because nobody reads its progress, and says in one line that its results
were lost.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO

from farpath.base.errors import FarpathError, MachineLacksError

STDIN, STDOUT, STDERR = 0, 1, 2


class ReaderGone(FarpathError):
    """The reader of stdout has seen enough, as head does; nothing is said."""

    #: 128 + SIGPIPE, as a shell has it for a program that the signal ends.
    exit_status = 141


class _Silenced(io.FileIO):
    """A stream that takes everything once it cannot be written any more; it notes why."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.failure: OSError | None = None

    def write(self, data: Any, /) -> int:
        if self.failure is None:
            try:
                return super().write(data)
            except BlockingIOError:
                raise
            except OSError as error:
                self.failure = error
        return memoryview(data).nbytes


def _reopened(descriptor: int, former: TextIO | None) -> TextIO:
    """Return a text stream on a descriptor, buffered as the former one was."""
    return io.TextIOWrapper(
        io.BufferedWriter(_Silenced(descriptor)),
        encoding=getattr(former, "encoding", None),
        line_buffering=descriptor == STDERR or getattr(former, "line_buffering", False),
    )


def open_streams() -> None:
    """Replace stdout and stderr by streams on which no command fails.

    A descriptor that is closed becomes /dev/null: else the next file that is opened would get its
    number and receive the printed text.
    """
    for descriptor in (STDIN, STDOUT, STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
            os.set_inheritable(descriptor, True)
    # Python callers, such as tests, may have streams of their own
    if sys.stdout is sys.__stdout__:
        sys.stdout = _reopened(STDOUT, sys.stdout)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _reopened(STDERR, sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Characters that its encoding lacks are escaped
            stream.reconfigure(errors="backslashreplace")


def check_stdout() -> None:
    """Write what stdout still holds; raise if anything that was printed has been lost.

    Raises ReaderGone or MachineLacksError.
    """
    sys.stdout.flush()
    failure = getattr(getattr(sys.stdout.buffer, "raw", None), "failure", None)
    if isinstance(failure, BrokenPipeError):
        raise ReaderGone("the reader of stdout is gone")
    if failure is not None:
        raise MachineLacksError(
            f"stdout cannot be written ({failure.strerror}), and what was printed is lost: free "
            "space where it goes, or give it another file"
        )
