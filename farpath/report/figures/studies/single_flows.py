"""The figure of one flow of a stack beside many of Reno: throughput and stability by path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from farpath.analysis.studies import outlook
from farpath.analysis.studies.measure import Measure, select_measures
from farpath.report.figures.studies.marks import style_of
from farpath.report.figures.style import FULL_IN, RULE, print_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_outlook(measures: Sequence[Measure]) -> Figure:
    """Draw mean and S of the runs of one length, a line for each stack, a mark for each path."""
    from matplotlib.figure import Figure

    together = [each for each in measures if each.about["schedule"] == "together"]
    stacks = list(dict.fromkeys(each.about["stack"] for each in together))
    paths = list(dict.fromkeys(each.about["path"] for each in together))
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(1, 2, sharey=True)
        quantities = {
            outlook.MEAN: "mean throughput (Mbit/s)",
            outlook.STABILITY: "S (standard deviation over mean)",
        }
        for axes, (quantity, label) in zip(frames, quantities.items(), strict=True):
            for index, path in enumerate(paths):
                colour, mark = style_of(index)
                of_path = select_measures(together, quantity, path=path)
                axes.plot(
                    [each.value for each in of_path],
                    [stacks.index(each.about["stack"]) for each in of_path],
                    mark, color=colour, markersize=5, label=path,
                )  # fmt: skip
            axes.set_xlabel(label)
            axes.set_xlim(left=0)
            axes.grid(True, color=RULE, linewidth=0.3)
        frames[0].set_yticks(range(len(stacks)), stacks)
        frames[0].invert_yaxis()
        frames[1].legend(frameon=False, fontsize=8)
        figure.suptitle("One flow of a stack, and parallel streams of Reno")
    return figure
