"""The figure that compares stacks: next to Reno, with themselves, and with other traffic."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.markers import mark_of
from farpath.report.figures.stack_colours import look_of
from farpath.report.figures.style import FULL_IN, INK, QUIET, RULE, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The right edge of a frame, relative to its largest value.
EDGE_FACTOR = 1.15


def draw_stacks(measures: Sequence[Measure]) -> Figure:
    """Draw a line for each stack: what it leaves to Reno, its time to share, its use alone."""
    from matplotlib.figure import Figure

    stacks = list(dict.fromkeys(map(_stack, measures)))
    alone_measures = [
        m for m in select_measures(measures, analysis.UTILISATION) if "+" not in m.about["stack"]
    ]
    friendly = select_measures(measures, analysis.FRIENDLINESS)
    groups = (
        {
            "with one Reno flow": [m for m in friendly if "+4x" not in m.about["stack"]],
            "with four": [m for m in friendly if "+4x" in m.about["stack"]],
        },
        {"two of a stack": select_measures(measures, analysis.CONVERGENCE)},
        {
            "Reno in reverse": [m for m in alone_measures if "reverse" in m.about],
            "packets overtake": [m for m in alone_measures if "reorder" in m.about],
        },
    )
    titles = (analysis.FRIENDLINESS, f"{analysis.CONVERGENCE} (s)", f"{analysis.UTILISATION} alone")
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(1, len(groups), sharey=True)
        for axes, group, title in zip(frames, groups, titles, strict=True):
            _draw_marks(axes, stacks, group)
            axes.set_xlabel(title)
            axes.grid(True, color=RULE, linewidth=0.3)
        frames[0].axvline(1, color=QUIET, linewidth=0.7, linestyle="--")
        frames[0].set_yticks(range(len(stacks)), stacks)
        frames[0].invert_yaxis()
    return figure


def _stack(measure: Measure) -> str:
    return measure.about["stack"].partition("+")[0]


def _draw_marks(axes: Axes, stacks: Sequence[str], groups: Mapping[str, Sequence[Measure]]) -> None:
    """Draw a mark for each measure; at the right edge write "never" for an infinite one."""
    measures = [measure for group in groups.values() for measure in group]
    edge = EDGE_FACTOR * max((m.value for m in measures if math.isfinite(m.value)), default=1.0)
    for index, (label, group) in enumerate(groups.items()):
        mark, fill = mark_of(index), "full" if index == 0 else "none"
        finite = [measure for measure in group if math.isfinite(measure.value)]
        for stack in dict.fromkeys(map(_stack, finite)):
            of_stack = [measure.value for measure in finite if _stack(measure) == stack]
            axes.plot(
                of_stack, [stacks.index(stack)] * len(of_stack), mark, color=look_of(stack).colour,
                markersize=5, fillstyle=fill,
            )  # fmt: skip
        if finite:
            axes.plot([], [], mark, color=INK, label=label, markersize=5, fillstyle=fill)
    for measure in measures:
        if not math.isfinite(measure.value):
            axes.text(
                edge, stacks.index(_stack(measure)), "never ", ha="right", va="center",
                fontsize=7, color=QUIET,
            )  # fmt: skip
    axes.set_xlim(0, edge)
    if axes.lines:
        axes.legend(
            fontsize=7, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2,
            handletextpad=0.2, columnspacing=0.8,
        )  # fmt: skip


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_stacks(measures)
