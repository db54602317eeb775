"""The figure of the standing queue by the number of BBR's flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.intervals import draw_intervals
from farpath.report.figures.stack_colours import look_of
from farpath.report.figures.style import INK, one_frame
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _flows(measure: Measure) -> float:
    return float(measure.about["flows"])


def draw_queue(measures: Sequence[Measure]) -> Figure:
    """Draw the median queue by the number of flows with its intervals, and the predicted dashed."""
    queues = select_measures(measures, analysis.STANDING)
    with one_frame("flows of BBR", "median queue (BDP)") as (figure, axes):
        draw_intervals(axes, queues, _flows, "o", look_of("bbr").colour, "measured")
        counts = sorted({_flows(each) for each in queues})
        axes.plot(
            counts, [analysis.predicted_bdp(int(each)) for each in counts], "--", color=INK,
            label="window less path",
        )  # fmt: skip
        axes.set_xticks(counts, [f"{each:g}" for each in counts])
        axes.set_ylim(bottom=0)
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_queue(measures)
