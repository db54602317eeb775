"""What /proc tells of a core's work and whose it was; texts and numbers in, numbers out."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass


@dataclass(frozen=True)
class Thread:
    """A thread: its process and name, the core it ran on last, its CPU time so far."""

    pid: int
    name: str
    core: int
    ran_s: float


def thread_of(pid: int, stat: str, schedstat: str) -> Thread:
    """A thread from the texts of its ``stat`` and ``schedstat`` (proc(5)).

    The name stands in brackets and may hold blanks and brackets; the core is the
    39th field of ``stat``, the time in ns the first of ``schedstat``.
    """
    head, _, tail = stat.rpartition(")")
    core = int(tail.split()[36])
    return Thread(pid, head.partition("(")[2], core, int(schedstat.split()[0]) / 1e9)


def core_worked_s(stat: str, core: int, ticks_per_s: int) -> float:
    """Time a core worked since boot, in s, from the text of /proc/stat.

    Its columns are user, nice, system, idle, iowait, irq, softirq and others
    (proc(5)); work is all but idle, iowait and what other machines took.
    """
    line = next(line for line in stat.splitlines() if line.startswith(f"cpu{core} "))
    ticks = [int(word) for word in line.split()[1:8]]
    return (sum(ticks) - ticks[3] - ticks[4]) / ticks_per_s


def foreign_s(
    before: Mapping[int, Thread], after: Mapping[int, Thread], core: int, own: Set[int]
) -> float:
    """CPU time that threads on a core took between two readings, but for ``own``.

    ``own`` are processes; the core's ksoftirqd, which moves their packets when there
    are many, belongs to them. A thread that changed cores counts where it is now.
    """
    total_s = 0.0
    for number, thread in after.items():
        ours = thread.pid in own or thread.name == f"ksoftirqd/{core}"
        if thread.core == core and not ours:
            total_s += thread.ran_s - (before[number].ran_s if number in before else 0.0)
    return total_s
