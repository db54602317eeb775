"""The table of a responsiveness test."""

from __future__ import annotations

from farpath.base.column import number
from farpath.report.table import Table
from farpath.uses.responsiveness.measure import (
    FOREIGN,
    HANDSHAKE,
    LOADED,
    PERCENTILES,
    Responsiveness,
    times_by_kind,
    trimmed_mean,
)

#: Names of the kinds of probes.
TITLES = {
    HANDSHAKE: "handshake of a new connection",
    FOREIGN: "a byte on a new connection",
    LOADED: "a byte on a loaded connection",
}
_NOTE = (
    "Idle: the mean of the probes before any load, without the slowest {trimmed:.0%}. Percentiles "
    "are of the test's last {count} intervals."
)


def summary_lines(found: Responsiveness) -> tuple[str, ...]:
    """Return the result in lines of text."""
    loaded = "-" if found.rpm.loaded is None else f"{found.rpm.loaded:.0f}"
    return (
        f"Responsiveness {found.rpm.mean:.0f} RPM ({found.rpm_confidence} confidence): new "
        f"connections {found.rpm.foreign:.0f}, loaded connections {loaded}",
        f"Idle           {found.idle.mean:.0f} RPM",
        f"Goodput        {found.goodput_bps / 1e6:.1f} Mbit/s ({found.capacity_confidence} "
        f"confidence) by {found.intervals[-1].connections} connections after "
        f"{found.intervals[-1].end_s:g} s",
    )


def probes_table(found: Responsiveness) -> Table:
    """Return the times of probes by kind: on the idle path, and percentiles under load."""
    idle = times_by_kind(probe for probe in found.probes if probe.end_s <= 0)
    kept = found.method.trimmed_part
    rows = tuple(
        (
            TITLES[kind],
            number(trimmed_mean(idle[kind], kept) if idle[kind] else None, 1),
            *(number(times[f"p{percent}"], 1) for percent in PERCENTILES),
        )
        for kind, times in found.percentiles_ms.items()
    )
    header = ("probe", "idle ms", "median ms", "p95 ms", "p99 ms")
    note = _NOTE.format(trimmed=1 - kept, count=found.method.averaged_intervals)
    return Table.of_texts("Times of probes", header, rows, note)
