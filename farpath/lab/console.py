"""The guest's console: reads and logs its lines, and recognises known causes of failure."""

from __future__ import annotations

import os
import selectors
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from farpath.base.errors import FarpathError, LabFailedError, MachineLacksError

#: Number of last lines that an error shows.
TAIL_LINES = 25
#: Letters of a line that an error shows: an event of the guest may hold the output of a program.
LINE_LETTERS = 300


@dataclass(frozen=True)
class GuestEnd:
    """A text on the console of a failed guest, the error that it means, and an explanation."""

    mark: str
    error: type[FarpathError]
    meaning: str


#: Remedy for a guest that ran out of memory, where flows run.
FEWER_FLOWS = "smaller windows or fewer flows need less"
_MEMORY = f"the guest ran out of memory: {FEWER_FLOWS}"
_PTRACE = "this machine forbids ptrace to the lab: allow it (seccomp profile, yama)"
#: Known causes of failure; the first that matches counts. Sources of the texts: panic() in
#: kernel/panic.c, mm/oom_kill.c, arch/um/os-Linux/start_up.c and mem.c.
VERDICTS = (
    GuestEnd("Out of memory", LabFailedError, _MEMORY),
    GuestEnd("out of memory", LabFailedError, _MEMORY),
    GuestEnd(
        "No space left on device",
        MachineLacksError,
        "the disk is full: free some space and run again",
    ),
    GuestEnd(
        "SECCOMP userspace requested",
        MachineLacksError,
        "this machine forbids seccomp filters to the lab: allow them",
    ),
    GuestEnd("check_ptrace", MachineLacksError, _PTRACE),
    GuestEnd("system call numbers...failed", MachineLacksError, _PTRACE),
    GuestEnd("stop_ptraced_child", MachineLacksError, _PTRACE),
    GuestEnd(
        "mounted noexec",
        MachineLacksError,
        "the guest's memory lies on a file system mounted noexec: set TMPDIR elsewhere",
    ),
    GuestEnd(
        "panic_on_warn set",
        LabFailedError,
        "the guest's kernel warned of a fault in it, such as a module of yours that sleeps",
    ),
    GuestEnd(
        "has no room for the packets of one window",
        LabFailedError,
        "more packets were on their way to another site than the run has memory for: a smaller "
        "`window`, `rate` or `rtt` needs less",
    ),
    GuestEnd("Kernel panic", LabFailedError, "the guest's kernel panicked"),
)


def guest_end(tail: str) -> GuestEnd | None:
    """Return the known cause of failure in the last lines of a console; None if there is none."""
    return next((verdict for verdict in VERDICTS if verdict.mark in tail), None)


class Console:
    """The console of a guest; its output is written to a log as it arrives.

    ``site``: of several guests that share a log, the words before each of this one's lines there,
    which are written when they are complete; empty for one guest alone.
    """

    def __init__(self, stream: IO[bytes], log: IO[bytes], site: str = "") -> None:
        self._stream = stream
        self._log = log
        self._site = f"{site}: ".encode() if site else b""
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)

    def tail(self) -> str:
        """Return the last lines, for the detail of an error."""
        return "\n".join(self._tail)

    def lines(self, pause_s: float) -> Iterator[str | None]:
        """Yield every line until the guest ends, and None after ``pause_s`` without output."""
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._stream, selectors.EVENT_READ)
            while True:
                if not selector.select(pause_s):
                    yield None
                    continue
                chunk = os.read(self._stream.fileno(), 65_536)
                *complete, pending = (pending + chunk).split(b"\n")
                if not chunk and pending:
                    complete, pending = [pending], b""
                self._write(chunk, complete)
                for raw in complete:
                    line = raw.decode(errors="replace").rstrip("\r")
                    cut = len(line) > LINE_LETTERS
                    self._tail.append(f"{line[:LINE_LETTERS]} ..." if cut else line)
                    yield line
                if not chunk:
                    return

    def _write(self, chunk: bytes, complete: Sequence[bytes]) -> None:
        """Write to the log: every byte at once, or complete lines of one of several sites."""
        lines = b"".join(self._site + line + b"\n" for line in complete)
        # In one call, which other sites' threads do not interrupt
        self._log.write(lines if self._site else chunk)
        self._log.flush()
