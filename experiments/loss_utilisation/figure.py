"""The figure of utilisation against the loss rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from experiments.response_function.figure import curve, log_axes
from farpath.metrics.measures import Measure
from farpath.report.figures.stack_colours import series_colour
from farpath.report.figures.style import FULL_IN, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_utilisation(measures: Sequence[Measure]) -> Figure:
    """Draw utilisation against loss, a curve for each path."""
    from matplotlib.figure import Figure

    paths = list(dict.fromkeys(measure.about["path"] for measure in measures))
    with print_style():
        figure = Figure(figsize=(FULL_IN[0] * 0.7, FULL_IN[1] * 0.8), layout="constrained")
        axes = figure.subplots()
        for index, path in enumerate(paths):
            of_path = [measure for measure in measures if measure.about["path"] == path]
            curve(axes, of_path, path, index, series_colour(index))
        log_axes(axes, "Reno's fraction of 1 Gbit/s: measured (marks) and theory (lines)")
        axes.set_ylim(0, 1.05)
        axes.set_ylabel("utilisation")
        axes.legend(frameon=False)
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_utilisation(measures)
