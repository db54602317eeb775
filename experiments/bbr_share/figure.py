"""The figure of BBR's share by buffer, measured and modelled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.intervals import draw_intervals
from farpath.report.figures.markers import style_of
from farpath.report.figures.style import INK, one_frame
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _buffer(measure: Measure) -> float:
    return float(measure.about["buffer"].removesuffix("xBDP"))


def draw_share(measures: Sequence[Measure]) -> Figure:
    """Draw the share of BBR's flow by buffer with its intervals, and the model dashed."""
    shares = select_measures(measures, analysis.SHARE)
    with one_frame("buffer (BDP)", analysis.SHARE) as (figure, axes):
        for index, stack in enumerate(dict.fromkeys(each.about["stack"] for each in shares)):
            of_stack = [each for each in shares if each.about["stack"] == stack]
            colour, mark = style_of(index)
            draw_intervals(axes, of_stack, _buffer, mark, colour, stack)
        model = {_buffer(each): each.theory or 0.0 for each in shares}
        axes.plot(sorted(model), [model[x] for x in sorted(model)], "--", color=INK, label="model")
        axes.set_xscale("log", base=2)
        axes.set_xticks(sorted(model), [f"{x:g}" for x in sorted(model)])
        axes.set_ylim(0, 1)
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_share(measures)
