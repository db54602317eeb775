"""The figure of disks: transfers, and the rates of their stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.stack_colours import mixed, series_colour
from farpath.report.figures.style import FULL_IN, RULE, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Letters in a line of a transfer's name, and a mark for each stage.
LINE = 44
MARKS = dict(zip(analysis.STAGES, ("<", "s", "D", ">"), strict=True))


def draw_transfers(measures: Sequence[Measure]) -> Figure:
    """Draw a bar for each transfer, the rates of its stages on it, and what was published."""
    from matplotlib.figure import Figure

    transfers = select_measures(measures, analysis.THROUGHPUT)
    rows = range(len(transfers))
    with print_style():
        figure = Figure(figsize=(FULL_IN[0], 0.8 + 0.34 * len(transfers)), layout="constrained")
        axes = figure.subplots()
        axes.barh(
            rows,
            [each.value for each in transfers],
            color=mixed(series_colour(1), 0.6),
            label="measured",
        )
        for number, stage in enumerate(analysis.STAGES, start=2):
            points = [
                (float(each.about[stage]), row)
                for row, each in enumerate(transfers)
                if stage in each.about
            ]
            axes.plot(
                [rate for rate, _ in points], [row for _, row in points], MARKS[stage],
                color=series_colour(number), markersize=6, linestyle="none", label=stage,
            )  # fmt: skip
        printed = [(each.printed.value, row) for row, each in enumerate(transfers) if each.printed]
        axes.plot(
            [value for value, _ in printed], [row for _, row in printed], "x",
            color=series_colour(0), markersize=8, markeredgewidth=2, linestyle="none",
            label="published",
        )  # fmt: skip
        axes.set_xlim(left=0)
        axes.set_xlabel("throughput, and rate of each stage (Mbit/s)")
        axes.set_yticks(rows, [fill(each.condition, LINE) for each in transfers], fontsize=7)
        axes.invert_yaxis()
        axes.grid(True, axis="x", color=RULE, linewidth=0.3)
        figure.legend(frameon=False, fontsize=8, loc="outside upper center", ncols=6)
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_transfers(measures)
