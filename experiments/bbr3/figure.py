"""Figures of BBRv3: shares by buffer and RTT, and how BBR and CUBIC use a path alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.intervals import draw_intervals, side_by_side
from farpath.report.figures.markers import style_of
from farpath.report.figures.stack_colours import look_of
from farpath.report.figures.style import FULL_IN, RULE, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The RTT at which both versions were measured beside CUBIC.
BOTH_RTT = "40ms"
#: Space between two conditions that the marks of their stacks take.
SPREAD = 0.5


def _buffer(measure: Measure) -> float:
    return float(measure.about["buffer"].removesuffix("xBDP"))


def _loss(measure: Measure) -> float:
    return float(measure.about["loss"].removesuffix("%"))


def _is_clean(measure: Measure) -> bool:
    """Whether its two flows had a path of one rate without losses, jitter or other traffic."""
    about = measure.about
    asked = ("path", "loss", "jitter", "background")
    return about["flows"] == "2" and not any(about[name] for name in asked)


def draw_shares(measures: Sequence[Measure]) -> Figure:
    """Draw the first flow's share by buffer, in a frame for each other flow.

    The first frame has both versions beside CUBIC, with the model of version 1 dashed. Intervals
    are of the mean over draws.
    """
    from matplotlib.figure import Figure

    shares = [each for each in select_measures(measures, analysis.SHARE) if _is_clean(each)]
    both = [each for each in shares if each.about["rtt"] == BOTH_RTT]
    grid = [each for each in shares if each.about["rtt"] != BOTH_RTT]
    others = list(dict.fromkeys(each.about["stack"] for each in grid))
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(1, 1 + len(others), sharey=True, squeeze=False)[0]
        for index, stack in enumerate(dict.fromkeys(each.about["stack"] for each in both)):
            of_stack = select_measures(both, analysis.SHARE, stack=stack)
            first = stack.partition("+")[0]
            colour = look_of(first).colour
            draw_intervals(frames[0], of_stack, _buffer, style_of(index)[1], colour, first)
            model = {_buffer(each): each.theory for each in of_stack if each.theory is not None}
            if model:
                frames[0].plot(*zip(*model.items(), strict=True), "--", color=colour, label="model")
        frames[0].set_title(f"beside cubic, {BOTH_RTT}", fontsize=8)
        for axes, stack in zip(frames[1:], others, strict=True):
            for index, rtt in enumerate(dict.fromkeys(each.about["rtt"] for each in grid)):
                colour, mark = style_of(index)
                of_rtt = select_measures(grid, analysis.SHARE, stack=stack, rtt=rtt)
                draw_intervals(axes, of_rtt, _buffer, mark, colour, rtt)
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


def _kind(measure: Measure) -> str:
    """Return the condition of a flow alone that has one value: a trace, jitter, other traffic."""
    about = measure.about
    jitter = f"jitter {about['jitter']}" if about["jitter"] else ""
    return about["path"] or jitter or ("short flows" if about["background"] else "")


def draw_alone(measures: Sequence[Measure]) -> Figure:
    """Draw how each stack alone uses a path, by losses and in other conditions, and its wait."""
    from matplotlib.figure import Figure

    alone = [each for each in measures if each.about["flows"] == "1"]
    lossy = [each for each in alone if each.about["loss"]]
    other = [each for each in alone if _kind(each)]
    kinds = list(dict.fromkeys(_kind(each) for each in other))
    stacks = list(dict.fromkeys(each.about["stack"] for each in alone))

    def place(measure: Measure) -> float:
        index = stacks.index(measure.about["stack"])
        return side_by_side(kinds.index(_kind(measure)), index, len(stacks), SPREAD)

    def draw(
        axes: Axes, of: Sequence[Measure], quantity: str, at: Callable[[Measure], float]
    ) -> None:
        for index, stack in enumerate(stacks):
            of_stack = select_measures(of, quantity, stack=stack)
            mark, colour = style_of(index)[1], look_of(stack).colour
            draw_intervals(axes, of_stack, at, mark, colour, stack, joined=at is _loss)
        axes.grid(True, axis="y", color=RULE, linewidth=0.3)
        axes.set_ylim(bottom=0)

    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(1, 3, width_ratios=(2, 3, 3))
        frames[2].set_yscale("symlog", linthresh=1)
        draw(frames[0], lossy, analysis.UTILISATION, _loss)
        draw(frames[1], other, analysis.UTILISATION, place)
        draw(frames[2], other, analysis.WAIT, place)
        frames[0].set_xlabel("random losses (%)")
        frames[0].legend(frameon=False, fontsize=7)
        titles = (analysis.UTILISATION, analysis.UTILISATION, f"{analysis.WAIT} (ms)")
        for axes, title in zip(frames, titles, strict=True):
            axes.set_title(title, fontsize=8)
        labels = ["\n".join(re.split("[ -]", kind)) for kind in kinds]
        for axes in frames[1:]:
            axes.set_xticks(range(len(kinds)), labels)
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw shares beside other flows, and the use of a path alone."""
    if any(_is_clean(each) for each in measures):
        yield analysis.EXPERIMENT, draw_shares(measures)
    if any(each.about["flows"] == "1" for each in measures):
        yield f"{analysis.EXPERIMENT}-alone", draw_alone(measures)
