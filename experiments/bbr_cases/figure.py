"""The figure of BBR's example test cases: utilisation and queue in each, by implementation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.intervals import draw_intervals, side_by_side
from farpath.report.figures.markers import style_of
from farpath.report.figures.style import FULL_IN, RULE, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADINGS = {analysis.UTILISATION: "utilisation", analysis.QUEUE: "median queue (ms)"}
#: Space between two cases that the marks of their stacks take.
SPREAD = 0.6


def draw_cases(measures: Sequence[Measure]) -> Figure:
    """Draw utilisation and queue of each case, a mark for each stack, with intervals over seeds."""
    from matplotlib.figure import Figure

    cases = list(dict.fromkeys(each.about["case"] for each in measures))
    stacks = list(dict.fromkeys(each.about["stack"] for each in measures))

    def place(measure: Measure) -> float:
        index = stacks.index(measure.about["stack"])
        return side_by_side(cases.index(measure.about["case"]), index, len(stacks), SPREAD)

    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        for axes, (quantity, heading) in zip(
            figure.subplots(len(HEADINGS), 1, sharex=True), HEADINGS.items(), strict=True
        ):
            for index, stack in enumerate(stacks):
                colour, mark = style_of(index)
                of_stack = select_measures(measures, quantity, stack=stack)
                draw_intervals(axes, of_stack, place, mark, colour, stack, joined=False)
            axes.set_title(heading, fontsize=8)
            axes.grid(True, axis="y", color=RULE, linewidth=0.3)
            axes.set_ylim(bottom=0)
            axes.set_xticks(range(len(cases)), [case.replace(" ", "\n", 1) for case in cases])
        axes.set_yscale("symlog", linthresh=1)
        figure.axes[0].legend(frameon=False, fontsize=7, ncols=len(stacks), loc="lower center")
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_cases(measures)
