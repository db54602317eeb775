"""/proc: a machine's counters."""

from __future__ import annotations

from farpath.tools.proc import machine_counters
from tests.support.data import captured

STAT = captured("proc/stat_two_cores.txt")
SOFTNET = captured("proc/softnet_stat_drops.txt")


def test_counters_are_each_cores_ticks_and_the_machines_packets() -> None:
    counters = machine_counters(STAT, SOFTNET)
    assert counters["cpus"] == {
        "cpu0": [5, 0, 10, 150, 2, 0, 3, 0],
        "cpu1": [5, 0, 10, 150, 2, 0, 3, 0],
    }
    assert (counters["dropped"], counters["squeezed"]) == (3, 31)
