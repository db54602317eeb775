"""Ticks: how a program samples at each tick of a run without disturbing it.

The program prints "ready", reads the schedule's start from stdin in ns of the monotonic clock, and
acts at each tick until SIGTERM. A reading of the virtual clock takes 256 ns, so from its first tick
to its last it never reads the clock: it waits for a timer, without a timeout, and writes to no
other program.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator

from farpath.guest.timer import Timer


class Ticks:
    """The ticks of a program.

    ``last_in_line``: run it only when no other process is runnable, which takes no time on the
    virtual clock.
    """

    def __init__(self, last_in_line: bool) -> None:
        self.timer = Timer()
        self.received_signals: list[int] = []
        signal.signal(signal.SIGTERM, lambda number, _frame: self.received_signals.append(number))
        gc.disable()
        if last_in_line:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

    def await_start(self) -> int:
        """Say that the program is ready; return the schedule's start by the monotonic clock."""
        print("ready", flush=True)
        return int(sys.stdin.buffer.readline())

    def until_end(self, first_ns: int, interval_ns: int) -> Iterator[int]:
        """Yield the number of each tick, from 0 at ``first_ns``, until SIGTERM."""
        self.timer.start(first_ns, interval_ns)
        tick = -1
        while not self.received_signals:
            tick += self.timer.expirations()
            yield tick
