"""The figure of a comparison: the curves of several runs over each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.report.figures.stack_colours import neutral_looks
from farpath.report.figures.style import TALL_IN, print_style
from farpath.report.tables.comparison import QUANTITIES, Comparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_comparison(comparison: Comparison) -> Figure:
    """Draw throughput of all flows, ping RTT and queue of each run, in one panel each."""
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=TALL_IN, layout="constrained")
        panels = figure.subplots(len(QUANTITIES), 1, sharex=True)
        for axes, (quantity, curve_of) in zip(panels, QUANTITIES.items(), strict=True):
            for index, run in enumerate(comparison.runs):
                curve = curve_of(run.record)
                axes.plot(
                    curve.t_s,
                    curve.values,
                    color=neutral_looks(len(comparison.runs))[index].colour,
                    linewidth=0.9,
                )
            axes.set_ylabel(quantity)
            axes.set_ylim(bottom=0)
            axes.spines[["top", "right"]].set_visible(False)
        panels[-1].set_xlabel("time (s)")
        panels[-1].set_xlim(left=0)
        lines = panels[0].get_lines()
        labels = [run.label for run in comparison.runs]
        legend = figure.legend(lines, labels, loc="outside lower center", frameon=False, ncols=1)
        for text in legend.get_texts():
            text.set_parse_math(False)
    return figure
