"""The figure of the window scan: mean, S and RTT of each stack by window, a line for each rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.markers import style_of
from farpath.report.figures.style import FULL_IN, INK, RULE, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADINGS = {
    analysis.MEAN: "mean (Mbit/s)",
    analysis.STABILITY: "S",
    analysis.TWO_STABILITY: "S, two flows",
    analysis.FOUR_STABILITY: "S, four flows",
    analysis.ONE_RTT: "RTT over base,\none flow",
}


def _window_mb(measure: Measure) -> float:
    text = measure.about["window"]
    return float(text.removesuffix("MB")) if text.endswith("MB") else int(text[:-1]) / 1e6


def draw_scan(measures: Sequence[Measure]) -> Figure:
    """Draw a row for each stack and a column for each quantity; printed values are dashed."""
    from matplotlib.figure import Figure

    stacks = list(dict.fromkeys(each.about["stack"] for each in measures))
    rates = list(dict.fromkeys(each.about["rate"] for each in measures))
    with print_style():
        size = (FULL_IN[0], 1.6 * len(stacks) + 0.6)
        figure = Figure(figsize=size, layout="constrained")
        frames = figure.subplots(
            len(stacks), len(HEADINGS), sharex=True, sharey="col", squeeze=False
        )
        for row, stack in zip(frames, stacks, strict=True):
            for axes, quantity in zip(row, HEADINGS, strict=True):
                for index, rate in enumerate(rates):
                    colour, mark = style_of(index)
                    line = sorted(
                        select_measures(measures, quantity, stack=stack, rate=rate), key=_window_mb
                    )
                    axes.plot(
                        [_window_mb(each) for each in line], [each.value for each in line],
                        mark, linestyle="-", color=colour, markersize=4, label=rate,
                    )  # fmt: skip
                    if line and line[0].printed is not None:
                        axes.axhline(line[0].printed.value, color=INK, ls="--", linewidth=0.8)
                axes.grid(True, color=RULE, linewidth=0.3)
            row[0].set_ylabel(stack)
        for axes, heading in zip(frames[0], HEADINGS.values(), strict=True):
            axes.set_title(heading, fontsize=8)
        for axes in frames[-1]:
            axes.set_xlabel("window (MB)")
            # Shared by the column, whose curves all have to be there before its end is fixed
            axes.set_ylim(bottom=0)
        lines, names = frames[0][0].get_legend_handles_labels()
        figure.legend(
            lines, names, loc="outside upper center", ncols=len(names), frameon=False, fontsize=7
        )
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_scan(measures)
