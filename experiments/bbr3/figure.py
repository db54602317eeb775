"""The figure of shares by buffer: versions 1 and 3 beside CUBIC, and version 3 by RTT."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.marks import style_of
from farpath.report.figures.stack_colours import look_of
from farpath.report.figures.style import FULL_IN, RULE, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The RTT at which both versions were measured beside CUBIC.
BOTH_RTT = "40ms"


def _buffer(measure: Measure) -> float:
    return float(measure.about["buffer"].removesuffix("xBDP"))


def _curve(axes: Axes, measures: Sequence[Measure], mark: str, label: str, colour: str) -> None:
    if measures:
        axes.plot(
            [_buffer(each) for each in measures], [each.value for each in measures],
            mark, linestyle="-", color=colour, markersize=4, label=label,
        )  # fmt: skip


def draw_shares(measures: Sequence[Measure]) -> Figure:
    """Draw the first flow's share by buffer, in a frame for each other flow.

    The first frame has both versions beside CUBIC, with the model of version 1 dashed.
    """
    from matplotlib.figure import Figure

    shares = select_measures(measures, analysis.SHARE)
    both = [each for each in shares if each.about["rtt"] == BOTH_RTT]
    grid = [each for each in shares if each.about["rtt"] != BOTH_RTT]
    rtts = list(dict.fromkeys(each.about["rtt"] for each in grid))
    others = list(dict.fromkeys(each.about["stack"] for each in grid))
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(1, 1 + len(others), sharey=True, squeeze=False)[0]
        for index, stack in enumerate(dict.fromkeys(each.about["stack"] for each in both)):
            of_stack = [each for each in both if each.about["stack"] == stack]
            first = stack.partition("+")[0]
            _curve(frames[0], of_stack, style_of(index)[1], first, look_of(first).colour)
            model = [each for each in of_stack if each.theory is not None]
            if model:
                frames[0].plot(
                    [_buffer(each) for each in model], [each.theory or 0.0 for each in model],
                    linestyle="--", color=look_of(first).colour, label="model",
                )  # fmt: skip
        frames[0].set_title(f"beside cubic, {BOTH_RTT}", fontsize=8)
        for axes, stack in zip(frames[1:], others, strict=True):
            for index, rtt in enumerate(rtts):
                colour, mark = style_of(index)
                of_rtt = [
                    each
                    for each in grid
                    if (each.about["rtt"], each.about["stack"]) == (rtt, stack)
                ]
                _curve(axes, of_rtt, mark, rtt, colour)
            axes.set_title(stack, fontsize=8)
        for axes in frames:
            axes.set_xscale("log", base=2)
            axes.set_xlabel("buffer (BDP)")
            axes.grid(True, color=RULE, linewidth=0.3)
            axes.axhline(0.5, color=RULE, linewidth=0.8)
        frames[0].set_ylim(0, 1)
        frames[0].set_ylabel(analysis.SHARE)
        for axes in (frames[0], frames[-1]):
            axes.legend(frameon=False, fontsize=7)
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_shares(measures)
