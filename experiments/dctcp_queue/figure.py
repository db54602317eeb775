"""The figure of queues at the switch: their distribution for each stack and number of flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure
from farpath.report.figures.markers import style_of
from farpath.report.figures.style import QUIET, one_frame
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_distributions(runs: Sequence[RecordedRun]) -> Figure:
    """Draw the part of the samples in which the queue was at most so long; all seeds together."""
    by_stack: dict[str, list[float]] = {}
    for recorded in runs:
        packets = analysis.queue_packets(recorded.record)
        by_stack.setdefault(recorded.run.request.stack, []).extend(packets)
    with one_frame("queue (packets)", "part of samples") as (figure, axes):
        for index, (stack, values) in enumerate(by_stack.items()):
            axes.ecdf(values, color=style_of(index)[0], label=stack)
        axes.axvline(analysis.THRESHOLD_PACKETS, color=QUIET, linewidth=0.7, linestyle="--")
        axes.set_xlim(left=0)
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all runs."""
    if runs:
        yield analysis.EXPERIMENT, draw_distributions(runs)
