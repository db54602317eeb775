"""Watchdog: distinguishes a guest that works, however slowly, from one that hangs.

A guest that a debugger holds does neither: its real time does not count while it is stopped.

The guest cannot be asked: its kernel may be in a loop, and any work to answer would shift
packets. So its virtual clock is read from its memory, and the activity of its programs is read
from the host's /proc; neither affects the guest.
"""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from farpath.lab.artifacts import elf

#: Symbol of User Mode Linux's virtual clock, in ns (arch/um/kernel/time.c).
CLOCK_SYMBOL = b"time_travel_time"
NS_PER_S = 1e9
#: Real seconds between two checks of a guest without events.
LOOK_S = 1.0
#: Field of proc_pid_status(5) that counts how often a process has waited.
SWITCHES = "voluntary_ctxt_switches:"
#: CPU s of each further loop without a system call, beside which others may run.
FREE_AGAIN_S = 5.0
#: States of a process that a signal or a debugger has stopped (proc_pid_stat(5)).
STOPPED = ("T", "t")


class Hang(Exception):
    """The guest makes no progress; the text describes the symptom."""


class OutOfTime(Exception):
    """The guest has taken all the real time that it may take."""


@dataclass(frozen=True)
class Patience:
    """Limits of the time that a guest may go on without an event.

    ``real_s``: real time without progress of any guest of the run. ``cpu_s``: CPU time while the
    virtual clock stands still, while none of its programs runs, or after ``busy_virtual_s``.
    ``calling_cpu_s``: CPU time while the clock stands still, though programs make system calls, as
    one that compresses a file does; 0 if such calls are no sign of progress.
    ``free_cpu_s``: CPU time without a system call after which other programs may run, which the
    module of user time does; 0 for never, as where that module is not loaded.
    ``busy_virtual_s``: virtual time during which a program may read the clock in a loop.
    ``virtual_s``: virtual time. ``computing``: remedy for a guest that only computes.
    ``wall_s``: real time from the guest's start to its end, whether it makes progress or not.
    ``is_held``: whether a debugger has the guests, which may stop them as long as it likes.
    ``shows_console``: whether the error of a guest that hangs has its console's last lines.
    """

    real_s: float = 120.0
    cpu_s: float = 20.0
    calling_cpu_s: float = 0.0
    free_cpu_s: float = 0.0
    busy_virtual_s: float = 600.0
    virtual_s: float = 600.0
    computing: str = "fix the congestion control or program of yours, if one runs in it"
    wall_s: float = math.inf
    is_held: Callable[[], bool] = lambda: False
    shows_console: bool = True


class VirtualClock:
    """Reads the virtual clock of guests that run one kernel."""

    def __init__(self, kernel: FilePath) -> None:
        self._address = elf.symbol(kernel.read_bytes(), CLOCK_SYMBOL)

    def read_ns(self, pid: int) -> int | None:
        """Return a guest's virtual time in ns; None without the symbol or the right to read it."""
        if self._address is None:
            return None
        with suppress(OSError, OverflowError), open(f"/proc/{pid}/mem", "rb", 0) as memory:
            clock = os.pread(memory.fileno(), 8, self._address)
            return int.from_bytes(clock, "little")
        return None


@dataclass(frozen=True)
class Activity:
    """Activity of a session's processes: CPU time, and how often all but the first have waited.

    The first process is the guest's kernel. Each program of the guest is another process, which
    waits for the kernel whenever it has run.
    """

    cpu_s: float
    waits: int


def activity_of(session: int) -> Activity:
    """Return the activity of a session's processes, ended children included."""
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


def is_stopped(pid: int) -> bool:
    """Whether a signal or a debugger has stopped a process."""
    with suppress(OSError):
        stat = FilePath(f"/proc/{pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] in STOPPED
    return False


def let_others_run(session: int) -> None:
    """Tell the program of a guest that is running to let others run (usertime.c).

    ``session``: the guest's. The kernel of the guest is its first process; of the others, which
    carry its programs, one runs at a time.
    """
    for process in FilePath("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] == "R" and process.name != str(session):
                os.kill(int(process.name), signal.SIGSEGV)


def _waits(process: FilePath) -> int:
    _, _, after = (process / "status").read_text().partition(SWITCHES)
    return int(after.split(maxsplit=1)[0]) if after else 0


@dataclass
class LastProgress:
    """When any guest of a run was last seen to make progress, by the real monotonic clock in s.

    A guest that waits for another one's window makes none, and is not to blame for it.
    """

    at_s: float = field(default_factory=time.monotonic)


class Watchdog:
    """Checks a guest between its events; the guest is the first process of its session.

    ``progress``: shared by the watchdogs of all guests of a run.
    """

    def __init__(
        self,
        pid: int,
        patience: Patience,
        clock: VirtualClock | None,
        progress: LastProgress | None = None,
    ) -> None:
        self.pid = pid
        self._patience = patience
        self._clock = clock
        self._progress = progress or LastProgress()
        self._end_s = time.monotonic() + patience.wall_s
        self._free_cpu_s = patience.free_cpu_s
        self.feed()

    def feed(self) -> None:
        """Restart all limits, since an event has arrived."""
        self._looked_s = self._progress.at_s = time.monotonic()
        self._clock_ns = self._fed_ns = self._read_ns()
        self._last: tuple[int, Activity] | None = None
        self._called: Activity | None = None

    def silence_s(self) -> float | None:
        """Return the virtual s between the last event and the last check; None if unknown."""
        if self._clock_ns is None or self._fed_ns is None:
            return None
        return (self._clock_ns - self._fed_ns) / NS_PER_S

    def check_wall(self) -> None:
        """Raise OutOfTime if the guest has taken all its real time."""
        if time.monotonic() > self._end_s:
            raise OutOfTime

    def look(self) -> bool:
        """Check the guest, at most once in ``LOOK_S``; return whether it was checked.

        Raises Hang if the guest has made no progress for longer than its limits.
        """
        now_s = time.monotonic()
        if now_s - self._looked_s < LOOK_S:
            return False
        self._looked_s = now_s
        if self._patience.is_held() and is_stopped(self.pid):
            # Guests that wait for its window are not to blame either
            self._progress.at_s = now_s
        self._clock_ns = self._read_ns()
        if self._clock_ns is not None:
            self._fed_ns = self._clock_ns if self._fed_ns is None else self._fed_ns
            self._check_progress(self._clock_ns, now_s)
        if now_s - self._progress.at_s > self._patience.real_s:
            raise Hang(f"its console printed nothing for {self._patience.real_s:g} s")
        if (silence_s := self.silence_s()) is not None and silence_s > self._patience.virtual_s:
            raise Hang(f"it sent no event in {silence_s:.0f} virtual s")
        return True

    def _read_ns(self) -> int | None:
        return self._clock.read_ns(self.pid) if self._clock else None

    def _check_progress(self, clock_ns: int, now_s: float) -> None:
        """Note progress if clock and programs have advanced; else check the CPU time."""
        activity = activity_of(self.pid)
        patience = self._patience
        if self._last is not None and self._called is not None:
            last_ns, last = self._last
            late = (self.silence_s() or 0.0) > patience.busy_virtual_s
            if late or clock_ns == last_ns or activity.waits == last.waits:
                called = activity.waits != self._called.waits
                if called and patience.calling_cpu_s and not late:
                    self._called, self._progress.at_s = activity, now_s
                if self._free_cpu_s and activity.cpu_s - self._called.cpu_s > self._free_cpu_s:
                    self._free_cpu_s = min(self._free_cpu_s, FREE_AGAIN_S)
                    let_others_run(self.pid)
                most_s = patience.calling_cpu_s or patience.cpu_s
                self._check_computed(activity.cpu_s - self._called.cpu_s, patience.cpu_s)
                self._check_computed(activity.cpu_s - last.cpu_s, most_s)
                return
        self._last, self._called, self._progress.at_s = (clock_ns, activity), activity, now_s

    def _check_computed(self, cpu_s: float, most_s: float) -> None:
        if cpu_s > most_s:
            raise Hang(
                f"it computed for {most_s:g} s without progress, as in an endless "
                f"loop: {self._patience.computing}"
            )
