"""The figure of windows against the loss rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.markers import mark_of
from farpath.report.figures.stack_colours import looks_of
from farpath.report.figures.style import FULL_IN, RULE, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def curve(
    axes: Axes, measures: Sequence[Measure], label: str, index: int, colour: str, line: Any = "-"
) -> None:
    """Draw measures as marks, and theory as a line through its values at the same losses."""
    points = sorted((_loss(measure), measure.value, measure.theory) for measure in measures)
    losses = [point[0] for point in points]
    axes.plot(
        losses,
        [point[1] for point in points],
        mark_of(index),
        color=colour,
        label=label,
        markersize=4.5,
    )
    theory = [(loss, value) for loss, _, value in points if value is not None]
    if theory:
        # Bars mark the points, because a single point makes no line
        axes.plot(
            *zip(*theory, strict=True), "_", color=colour, linestyle=line, linewidth=0.9,
            markersize=9,
        )  # fmt: skip


def _loss(measure: Measure) -> float:
    """Return the measured loss, or else the requested loss."""
    loss = measure.about.get("loss") or measure.about["drop"].partition(":")[2]
    return float(loss)


def log_axes(axes: Axes, title: str) -> None:
    """Set a logarithmic axis of losses, and the frame's title."""
    axes.set_xscale("log")
    axes.set_xlabel("fraction of packets lost")
    axes.set_title(title)
    axes.grid(True, which="major", color=RULE, linewidth=0.3)


def draw_response(measures: Sequence[Measure]) -> Figure:
    """Draw mean windows against loss, a frame for each path."""
    from matplotlib.figure import Figure

    paths = list(dict.fromkeys(measure.about["path"] for measure in measures))
    stacks = list(dict.fromkeys(measure.about["stack"] for measure in measures))
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(1, len(paths), sharey=True, squeeze=False)[0]
        for axes, path in zip(frames, paths, strict=True):
            for index, (stack, look) in enumerate(zip(stacks, looks_of(stacks), strict=True)):
                of_stack = [
                    measure
                    for measure in measures
                    if (measure.about["path"], measure.about["stack"]) == (path, stack)
                    and float(measure.about["loss"]) > 0
                ]
                if of_stack:
                    curve(axes, of_stack, stack, index, look.colour, look.linestyle)
            log_axes(axes, path)
            axes.set_yscale("log")
        frames[0].set_ylabel("mean window (packets)")
        frames[-1].legend(fontsize=7, frameon=False)
        figure.suptitle("Response functions: measured (marks) and the stacks' rules (lines)")
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all windows."""
    if windows := select_measures(measures, analysis.WINDOW):
        yield analysis.EXPERIMENT, draw_response(windows)
