"""Counters of a machine, from the texts of /proc."""

from __future__ import annotations

from typing import Any

#: Columns of a line of /proc/stat (show_stat in fs/proc/stat.c), in clock ticks.
CPU_COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def machine_counters(stat: str, softnet_stat: str) -> dict[str, Any]:
    """The machine's counters in /proc/stat and /proc/net/softnet_stat.

    ``cpus``: for each core its ticks by :data:`CPU_COLUMNS`. ``dropped``,
    ``squeezed``: of the whole machine, second and third column of softnet_seq_show in
    net/core/net-procfs.c.
    """
    cpus = {}
    for line in stat.splitlines():
        name, *ticks = line.split()
        if name.startswith("cpu") and name != "cpu":
            cpus[name] = [int(tick) for tick in ticks[: len(CPU_COLUMNS)]]
    rows = [line.split() for line in softnet_stat.splitlines()]
    return {
        "cpus": cpus,
        "dropped": sum(int(row[1], 16) for row in rows),
        "squeezed": sum(int(row[2], 16) for row in rows),
    }
