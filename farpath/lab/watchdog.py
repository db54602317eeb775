"""Watchdog: tells a guest that works, however slowly, from one that hangs.

Who waits for a guest cannot ask it: its kernel may be in a loop, and whatever it did to answer
would move packets. So its virtual clock is read in its memory, and whether its programs run is
seen from outside, which costs it nothing.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.lab.artifacts import elf

#: User Mode Linux's virtual clock, in ns (arch/um/kernel/time.c).
CLOCK_SYMBOL = b"time_travel_time"
NS_PER_S = 1e9
#: Real seconds between two looks at a silent guest.
LOOK_S = 1.0
#: Of proc_pid_status(5): how often a process has waited for something.
SWITCHES = "voluntary_ctxt_switches:"


class Hang(Exception):
    """The guest makes no progress; the text says how that shows."""


@dataclass(frozen=True)
class Patience:
    """How long a guest may go on without an event.

    ``real_s``: without any sign of life. ``cpu_s``: as long as it may compute while its virtual
    clock stands still, while none of its programs runs, or after ``busy_virtual_s`` of its own
    time, in which a program may ask the time in a loop. ``virtual_s``: of its own time.
    """

    real_s: float = 120.0
    cpu_s: float = 20.0
    busy_virtual_s: float = 600.0
    virtual_s: float = 600.0


class VirtualClock:
    """The virtual clock of guests of one kernel."""

    def __init__(self, kernel: FilePath) -> None:
        self._address = elf.symbol(kernel.read_bytes(), CLOCK_SYMBOL)

    def read_ns(self, pid: int) -> int | None:
        """What it shows in a guest; None if that cannot be seen: no such symbol, no right."""
        if self._address is None:
            return None
        with suppress(OSError, OverflowError), open(f"/proc/{pid}/mem", "rb", 0) as memory:
            clock = os.pread(memory.fileno(), 8, self._address)
            return int.from_bytes(clock, "little")
        return None


@dataclass(frozen=True)
class Activity:
    """What a session's processes have done: CPU time, and how often others than the first waited.

    The first is the guest's kernel; each of the guest's programs is a process beside it, which
    waits for the kernel whenever it has run.
    """

    cpu_s: float
    waits: int


def activity_of(session: int) -> Activity:
    """What the living processes of a session and their dead children have done."""
    ticks = waits = 0
    for process in FilePath("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) != session:
                continue
            ticks += sum(map(int, fields[11:15]))
            if process.name != str(session):
                waits += _waits(process)
    return Activity(ticks / os.sysconf("SC_CLK_TCK"), waits)


def _waits(process: FilePath) -> int:
    _, _, after = (process / "status").read_text().partition(SWITCHES)
    return int(after.split(maxsplit=1)[0]) if after else 0


class Watchdog:
    """Watches a guest, the first process of a session of its own, between its events."""

    def __init__(self, pid: int, patience: Patience, clock: VirtualClock | None) -> None:
        self._pid = pid
        self._patience = patience
        self._clock = clock
        self.feed()

    def feed(self) -> None:
        """An event has come."""
        self._looked_s = self._alive_s = time.monotonic()
        self._clock_ns = self._fed_ns = self._read_ns()
        self._last: tuple[int, Activity] | None = None

    def silence_s(self) -> float | None:
        """Virtual seconds from the last event to the last look; None if nobody knows."""
        if self._clock_ns is None or self._fed_ns is None:
            return None
        return (self._clock_ns - self._fed_ns) / NS_PER_S

    def look(self) -> bool:
        """Look at the guest, unless that was a moment ago, and say whether it was looked at.

        Raises Hang if the guest has made no progress for longer than it may.
        """
        now_s = time.monotonic()
        if now_s - self._looked_s < LOOK_S:
            return False
        self._looked_s = now_s
        self._clock_ns = self._read_ns()
        if self._clock_ns is not None:
            self._fed_ns = self._clock_ns if self._fed_ns is None else self._fed_ns
            self._look_at_progress(self._clock_ns, now_s)
        if now_s - self._alive_s > self._patience.real_s:
            raise Hang(f"its console said nothing for {self._patience.real_s:g} s")
        if (silence_s := self.silence_s()) is not None and silence_s > self._patience.virtual_s:
            raise Hang(f"nothing came of it in {silence_s:.0f} s of its own time")
        return True

    def _read_ns(self) -> int | None:
        return self._clock.read_ns(self._pid) if self._clock else None

    def _look_at_progress(self, clock_ns: int, now_s: float) -> None:
        """Alive is a guest whose clock and whose programs move, for as long as they may."""
        activity = activity_of(self._pid)
        if self._last is not None:
            last_ns, last = self._last
            late = (self.silence_s() or 0.0) > self._patience.busy_virtual_s
            if late or clock_ns == last_ns or activity.waits == last.waits:
                self._check_computed(activity.cpu_s - last.cpu_s)
                return
        self._last, self._alive_s = (clock_ns, activity), now_s

    def _check_computed(self, cpu_s: float) -> None:
        if cpu_s > self._patience.cpu_s:
            raise Hang(
                f"it computed for {self._patience.cpu_s:g} s without progress, as in a loop "
                "without end: mend the congestion control or program of yours, if one runs in it"
            )
