"""The work of a core and its threads, from texts of /proc."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass


@dataclass(frozen=True)
class Thread:
    """A thread: its process and name, the core that it last ran on, and its CPU time so far."""

    pid: int
    name: str
    core: int
    ran_s: float


def thread_of(pid: int, stat: str, schedstat: str) -> Thread:
    """Parse a thread from the texts of its ``stat`` and ``schedstat`` (proc(5)).

    The name is in brackets and may contain blanks and brackets. The core is the 39th field of
    ``stat``, the time in ns the first of ``schedstat``.
    """
    head, _, tail = stat.rpartition(")")
    core = int(tail.split()[36])
    return Thread(pid, head.partition("(")[2], core, int(schedstat.split()[0]) / 1e9)


def core_worked_s(stat: str, core: int, ticks_per_s: int) -> float:
    """Return the time in s that a core worked since boot, from the text of /proc/stat.

    Its columns are user, nice, system, idle, iowait, irq, softirq and others (proc(5)). Work is
    everything except idle, iowait and the time that other machines took.
    """
    line = next(line for line in stat.splitlines() if line.startswith(f"cpu{core} "))
    ticks = [int(word) for word in line.split()[1:8]]
    return (sum(ticks) - ticks[3] - ticks[4]) / ticks_per_s


def foreign_s(
    before: Mapping[int, Thread], after: Mapping[int, Thread], core: int, own: Set[int]
) -> float:
    """Return the CPU time of other threads on a core between two readings, in s.

    ``own`` are the processes that do not count. The core's ksoftirqd moves their packets when there
    are many, and does not count either. A thread that changed cores counts on its present one.
    """
    total_s = 0.0
    for number, thread in after.items():
        is_own = thread.pid in own or thread.name == f"ksoftirqd/{core}"
        if thread.core == core and not is_own:
            total_s += thread.ran_s - (before[number].ran_s if number in before else 0.0)
    return total_s
