"""Processes that tests start, and those that they interrupt."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

#: How long the machine may take, in real seconds; nothing waits for it.
LIMIT_S = 60.0


def completed(
    command: Sequence[object], check: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """A command that has ended, with what it printed; ``options`` are those of subprocess.run."""
    words: list[Any] = list(command)
    return subprocess.run(words, capture_output=True, text=True, check=check, **options)


def interruptible(command: Sequence[str]) -> list[str]:
    """A command as at a prompt, where Ctrl-C (SIGINT) and a hang-up (SIGHUP) end it.

    A shell without job control starts what is in its background with SIGINT ignored, and so do
    nohup's callers, cron and many CI systems; a test run may be one of these, and its children
    would inherit that (env(1), signal(7)).
    """
    return ["env", "--default-signal=INT,HUP", *command]


def await_true(condition: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    """Return once a condition holds; fail if it does not within the limit."""
    end_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end_s, "it did not come true in time"
        time.sleep(0.05)


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Programs that only compute, beside what is tested."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def is_living(pid: int) -> bool:
    """Whether a process exists, other than as one that has ended and waits to be read."""
    with suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] != "Z"
    return False
