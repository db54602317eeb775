"""The figure of end hosts: throughput against the load of their processors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure
from farpath.report.figures.markers import marks_and_theory
from farpath.report.figures.style import FULL_IN, RULE, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_hosts(measures: Sequence[Measure]) -> Figure:
    """Draw throughput against load, a curve for each host: marks, the processor's time as lines."""
    from matplotlib.figure import Figure

    hosts: dict[tuple[str, ...], list[Measure]] = {}
    for measure in measures:
        key = tuple(measure.about[word] for word in ("processors", "cpu", "rtt"))
        hosts.setdefault(key, []).append(measure)
    with print_style():
        figure = Figure(figsize=(FULL_IN[0] * 0.75, FULL_IN[1] * 0.8), layout="constrained")
        axes = figure.subplots()
        for index, ((processors, cpu, rtt), group) in enumerate(hosts.items()):
            loads = [(float(each.about["load"]), each) for each in group]
            marks_and_theory(axes, index, loads, f"{processors} x {cpu} GHz, {rtt} ms")
        axes.set_xlabel("other programs on the host")
        axes.set_ylabel("throughput (Mbit/s)")
        axes.set_xticks(sorted({int(each.about["load"]) for each in measures}))
        axes.set_ylim(bottom=0)
        axes.grid(True, color=RULE, linewidth=0.3)
        axes.legend(frameon=False, fontsize=8)
        figure.suptitle("What a loaded host sends: measured (marks), its processor's time (lines)")
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_hosts(measures)
