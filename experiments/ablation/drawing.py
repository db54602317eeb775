"""The figure of an ablation: what each mechanism does to each stack, beside what was published."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from experiments.seven_regions.paper_columns import MEAN, STABILITY
from experiments.seven_regions.paper_stacks import paper_names
from experiments.seven_regions.published import all_published
from farpath.report.figures.markers import style_of
from farpath.report.figures.style import QUIET, RULE, print_style

from .analysis import ALL, BASE, Ablation
from .tables import scope

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from experiments.seven_regions.paper_columns import PaperColumn

#: Inches: the width, the height of a stack, and that of title, axis and legend.
WIDTH_IN, STACK_IN, AROUND_IN = 7.5, 0.85, 1.2
#: The part of a stack's height over which its marks are spread, and that of its bar and line.
PART_OF_MARKS, PART_OF_BAR = 0.8, 0.92
#: The label of what a legend leaves out.
HIDDEN = "_nolegend_"
#: The frames, and the headings of their axes.
FRAMES = ((MEAN, "mean throughput (Mbit/s)"), (STABILITY, "S (standard deviation over mean)"))


def draw_ablation(ablation: Ablation) -> Figure:
    """Draw means and S by stack: a bar is published, a line the base, a mark each mechanism.

    A thin line joins the mark with the base: its length is what the mechanism does. A mechanism
    that is not of a stack has no mark there. Pale bars are 95 % confidence intervals over seeds, if
    there are several.
    """
    from matplotlib.figure import Figure

    stacks = [
        name
        for name in paper_names()
        if any(ablation.of(mechanism, name, MEAN).count for mechanism in ablation.results)
    ]
    with print_style():
        size_in = (WIDTH_IN, AROUND_IN + STACK_IN * len(stacks))
        figure = Figure(figsize=size_in, layout="constrained")
        frames = figure.subplots(1, len(FRAMES), sharey=True)
        for axes, (column, heading) in zip(frames, FRAMES, strict=True):
            _draw_published_and_base(axes, ablation, column, stacks)
            _draw_mechanisms(axes, ablation, column, stacks)
            axes.set_xlabel(heading)
            axes.set_xlim(left=0)
            axes.grid(True, axis="x", color=RULE, linewidth=0.3)
            axes.tick_params(axis="y", length=0)
            for index in range(1, len(stacks)):
                axes.axhline(index - 0.5, color=RULE, linewidth=0.8)
        frames[0].set_yticks(range(len(stacks)), stacks)
        frames[0].set_ylim(len(stacks) - 0.5, -0.5)
        figure.legend(
            *frames[0].get_legend_handles_labels(), loc="outside lower center", ncols=5,
            frameon=False, fontsize=8, handletextpad=0.4, columnspacing=1.4,
        )  # fmt: skip
        intervals = "; pale: 95 % confidence interval" if len(ablation.seeds) > 1 else ""
        figure.suptitle(
            f"What each mechanism does: {scope(ablation)}\n"
            f"a mark's line begins at the base{intervals}; no mark: not of this stack",
            fontsize=9,
        )
    return figure


def _draw_published_and_base(
    axes: Axes, ablation: Ablation, column: PaperColumn, stacks: list[str]
) -> None:
    for index, name in enumerate(stacks):
        span = (index - PART_OF_BAR / 2, index + PART_OF_BAR / 2)
        printed = column.printed.number_of(all_published()[name])
        axes.vlines(
            printed, *span, color=QUIET, linewidth=5, alpha=0.4,
            label=HIDDEN if index else "published", zorder=1,
        )  # fmt: skip
        if BASE in ablation.results:
            axes.vlines(
                ablation.of(BASE, name, column).mean, *span, color="black", linewidth=1.2,
                label=HIDDEN if index else BASE, zorder=2,
            )  # fmt: skip


def _draw_mechanisms(
    axes: Axes, ablation: Ablation, column: PaperColumn, stacks: list[str]
) -> None:
    mechanisms = [name for name in ablation.results if name != BASE]
    for number, mechanism in enumerate(mechanisms):
        colour, mark = style_of(0 if mechanism == ALL else number + 1)
        offset = PART_OF_MARKS * ((number + 0.5) / len(mechanisms) - 0.5)
        label = mechanism
        for index, name in enumerate(stacks):
            if not ablation.changes(mechanism, name):
                continue
            value, height = ablation.of(mechanism, name, column), index + offset
            if BASE in ablation.results:
                base = ablation.of(BASE, name, column).mean
                axes.hlines(height, base, value.mean, color=colour, linewidth=0.9, zorder=3)
            if not math.isnan(value.half_width):
                low, high = value.mean - value.half_width, value.mean + value.half_width
                axes.hlines(height, low, high, color=colour, linewidth=3.5, alpha=0.25, zorder=2)
            axes.plot(
                value.mean, height, mark, color=colour, markersize=4.5, label=label,
                linestyle="none", zorder=4,
            )  # fmt: skip
            label = HIDDEN
