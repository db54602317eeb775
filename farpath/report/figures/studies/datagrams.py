"""The figure of datagrams: throughput and loss against their spacing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from farpath.analysis.studies import udp
from farpath.analysis.studies.measure import Measure, select_measures
from farpath.report.figures.studies.marks import style_of
from farpath.report.figures.style import FULL_IN, RULE, print_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_datagrams(measures: Sequence[Measure]) -> Figure:
    """Draw both against spacing, a curve for each size and bottleneck: marks, theory as lines."""
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(1, 2)
        for axes, quantity, label in zip(
            frames,
            (udp.THROUGHPUT, udp.LOSS),
            ("throughput (Mbit/s)", "part of the datagrams lost"),
            strict=True,
        ):
            _draw_quantity(axes, select_measures(measures, quantity, beside=""))
            axes.set_xlabel("time between two datagrams (us)")
            axes.set_ylabel(label)
            axes.set_ylim(bottom=0)
            axes.grid(True, color=RULE, linewidth=0.3)
        frames[0].legend(fontsize=7, frameon=False)
        figure.suptitle("Datagrams: measured (marks); what spacing, card and path allow (lines)")
    return figure


def _draw_quantity(axes: Axes, measures: Sequence[Measure]) -> None:
    curves: dict[tuple[str, str], list[Measure]] = {}
    for measure in measures:
        curves.setdefault((measure.about["size"], measure.about["rate"]), []).append(measure)
    for index, ((size, rate), curve) in enumerate(curves.items()):
        colour, mark = style_of(index)
        points = sorted(
            (float(each.about["spacing"]), each.value, each.theory or 0.0) for each in curve
        )
        spacings_us = [point[0] for point in points]
        axes.plot(
            spacings_us, [point[1] for point in points], mark, color=colour, markersize=4.5,
            label=f"{size} bytes, bottleneck of {rate} Mbit/s",
        )  # fmt: skip
        axes.plot(spacings_us, [point[2] for point in points], color=colour, linewidth=0.9)
