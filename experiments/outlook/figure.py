"""The figure of the outlook: throughput and stability of flows and streams by path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.markers import style_of
from farpath.report.figures.style import FULL_IN, RULE, print_style
from farpath.runs.experiment import RecordedRun
from farpath.spec.schedule import TOGETHER

from . import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_outlook(measures: Sequence[Measure]) -> Figure:
    """Draw mean and S, a line for each stack and schedule, a mark for each path."""
    from matplotlib.figure import Figure

    rows = list(dict.fromkeys(map(_row, measures)))
    paths = list(dict.fromkeys(each.about["path"] for each in measures))
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(1, 2, sharey=True)
        quantities = {
            analysis.MEAN: "mean throughput (Mbit/s)",
            analysis.STABILITY: "S (standard deviation over mean)",
        }
        for axes, (quantity, label) in zip(frames, quantities.items(), strict=True):
            for index, path in enumerate(paths):
                colour, mark = style_of(index)
                of_path = select_measures(measures, quantity, path=path)
                axes.plot(
                    [each.value for each in of_path], [rows.index(_row(each)) for each in of_path],
                    mark, color=colour, markersize=5, label=path,
                )  # fmt: skip
            axes.set_xlabel(label)
            axes.grid(True, color=RULE, linewidth=0.3)
        # A path of 10 Gbit/s beside those of a twentieth
        frames[0].set_xscale("log")
        frames[1].set_xlim(left=0)
        frames[0].set_yticks(range(len(rows)), rows)
        frames[0].invert_yaxis()
        frames[1].legend(frameon=False, fontsize=8)
        figure.suptitle("One flow of a stack, parallel streams of Reno, and the seven-region test")
    return figure


def _row(measure: Measure) -> str:
    schedule = measure.about["schedule"]
    return measure.about["stack"] + ("" if schedule == TOGETHER else f", {schedule}")


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_outlook(measures)
