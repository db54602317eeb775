"""The figure of costs: CPU against throughput, and cycles for a bit against streams.

It has the form of figures 6 and 7 of the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.mechanisms.offloads.mechanism import ALL, NONE
from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.markers import style_of
from farpath.report.figures.style import FULL_IN, RULE, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_costs(measures: Sequence[Measure]) -> Figure:
    """Draw two frames: CPU against throughput for each offload and number of streams, and cost.

    The cost is at the rate that most numbers of streams ran at; hollow marks are the paper's.
    """
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=(FULL_IN[0], FULL_IN[1] * 0.8), layout="constrained")
        use, cost = figure.subplots(1, 2)
        _draw_use(use, measures)
        _draw_cost(cost, measures)
        for axes in (use, cost):
            axes.set_ylim(bottom=0)
            axes.grid(True, color=RULE, linewidth=0.3)
            axes.legend(frameon=False, fontsize=7)
        figure.suptitle("What a bit costs a sending host, by its streams and its card")
    return figure


def _draw_use(axes: Axes, measures: Sequence[Measure]) -> None:
    """Draw CPU over throughput, a curve for each number of streams that has the most rates."""
    curves: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for used in select_measures(measures, analysis.CPU):
        (rate,) = select_measures(
            [each for each in measures if each.seed == used.seed],
            analysis.THROUGHPUT,
            **used.about,
        )
        key = used.about["offloads"], used.about["streams"]
        curves.setdefault(key, []).append((rate.value, used.value))
    most = max(map(len, curves.values()))
    drawn = [
        (*key, points)
        for key, points in curves.items()
        if key[0] in (ALL, NONE) and len(points) == most
    ]
    for index, (offloads, streams, points) in enumerate(drawn):
        colour, mark = style_of(index)
        xs, ys = zip(*sorted(points), strict=True)
        label = f"offloads {offloads}, streams: {streams}"
        axes.plot(xs, ys, f"{mark}-", color=colour, markersize=4, linewidth=0.9, label=label)
    axes.set_xlabel("throughput (Mbit/s)")
    axes.set_ylabel("CPU of the senders (% of a core)")


def _draw_cost(axes: Axes, measures: Sequence[Measure]) -> None:
    of_rate = analysis.at_usual_rate(select_measures(measures, analysis.COST))
    for index, offloads in enumerate(dict.fromkeys(each.about["offloads"] for each in of_rate)):
        colour, mark = style_of(index)
        curve = select_measures(of_rate, analysis.COST, offloads=offloads)
        points = sorted((int(each.about["streams"]), each.value) for each in curve)
        xs, ys = zip(*points, strict=True)
        axes.plot(
            xs, ys, f"{mark}-", color=colour, markersize=4, linewidth=0.9,
            label=f"offloads {offloads}",
        )  # fmt: skip
        for each in curve:
            if each.printed is not None:
                axes.plot(
                    int(each.about["streams"]), each.printed.value, mark, color=colour,
                    markerfacecolor="none", markersize=7,
                    label=each.note,
                )  # fmt: skip
    axes.set_xlabel(f"streams, at {of_rate[0].about['rate']} Mbit/s")
    axes.set_ylabel("GHz per Gbit/s")


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_costs(measures)
