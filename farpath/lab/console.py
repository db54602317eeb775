"""The guest's console: an iterator of lines, logged as they come, and its verdict."""

from __future__ import annotations

import os
import selectors
import time
from collections import deque
from collections.abc import Iterator
from typing import IO

TAIL_LINES = 25

OUT_OF_MEMORY = "the guest ran out of memory: smaller windows or fewer flows need less"

#: What a console says when a lab ends badly, and what that means. Sources: panic()
#: in kernel/panic.c, mm/oom_kill.c, arch/um/os-Linux/start_up.c and mem.c.
VERDICTS = (
    ("Out of memory", OUT_OF_MEMORY),
    ("out of memory", OUT_OF_MEMORY),
    ("No space left on device", "the disk is full: free some space and run again"),
    ("check_ptrace", "this machine forbids ptrace: allow it (seccomp profile, yama)"),
    ("ptrace", "this machine forbids ptrace to the lab: allow it (seccomp profile, yama)"),
    ("noexec", "the guest's memory lies on a file system mounted noexec: set TMPDIR elsewhere"),
    ("Kernel panic", "the guest's kernel panicked"),
)


class Hang(Exception):
    """The console said nothing for longer than allowed."""


def verdict(tail: str) -> str | None:
    """What a console's tail says went wrong, if it is something known."""
    return next((meaning for mark, meaning in VERDICTS if mark in tail), None)


class Console:
    """Lines of a guest's console, each written to the log before it is handed on."""

    def __init__(self, stream: IO[bytes], log: IO[bytes], quiet_limit_s: float) -> None:
        self._stream = stream
        self._log = log
        self._quiet_limit_s = quiet_limit_s
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)

    def tail(self) -> str:
        """The last lines, for an error's detail."""
        return "\n".join(self._tail)

    def lines(self) -> Iterator[str]:
        """Every line until the guest ends; raises Hang after too long a silence.

        Silence counts real time: a guest in virtual time always has something to
        say, since its schedule reports every virtual second.
        """
        pending = b""
        deadline = time.monotonic() + self._quiet_limit_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._stream, selectors.EVENT_READ)
            while True:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise Hang
                chunk = os.read(self._stream.fileno(), 65_536)
                deadline = time.monotonic() + self._quiet_limit_s
                self._log.write(chunk)
                self._log.flush()
                *complete, pending = (pending + chunk).split(b"\n")
                if not chunk and pending:
                    complete, pending = [pending], b""
                for raw in complete:
                    line = raw.decode(errors="replace").rstrip("\r")
                    self._tail.append(line)
                    yield line
                if not chunk:
                    return
