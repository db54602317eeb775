"""/proc: parsers of a machine's CPU and packet processing counters."""

from __future__ import annotations

from typing import Any

#: Columns of a line of /proc/stat (show_stat in fs/proc/stat.c), in clock ticks.
CPU_COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def machine_counters(stat: str, softnet_stat: str) -> dict[str, Any]:
    """Parse the contents of /proc/stat and /proc/net/softnet_stat.

    Returns ``cpus``, the clock ticks of each core in the order of ``CPU_COLUMNS``, and
    ``dropped`` and ``squeezed``, sums over all cores of the second and third column that
    softnet_seq_show in net/core/net-procfs.c prints.
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
