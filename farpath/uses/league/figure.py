"""The matrix of a league: each stack's share beside each other one, a panel for each condition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from farpath.report.figures.style import print_style
from farpath.uses.league.measure import Encounter, by_conditions, shares_of
from farpath.uses.league.question import League

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from farpath.metrics.run import Array

PANELS_IN_ROW = 2
#: Inches of a cell, and around the cells of a panel.
CELL_IN, FRAME_IN = (0.62, 0.42), (1.3, 1.1)
#: The colour scale ends at twice a fair half, the whole bottleneck.
MOST = 200.0
#: Numbers are light in cells that are this far from a fair half, which is pale.
DARK_FROM = 60.0


def draw_league(league: League, found: tuple[Encounter, ...]) -> Figure:
    """Draw the shares in per cent of a fair half: red is less, blue is more than that.

    A row has the shares of its stack beside each column's, medians over runs. Pairs without a
    record stay empty.
    """
    from matplotlib.figure import Figure

    panels = by_conditions(found)
    columns = min(PANELS_IN_ROW, len(panels))
    rows = math.ceil(len(panels) / columns)
    count = len(league.stacks)
    width_in = columns * (FRAME_IN[0] + CELL_IN[0] * count) + FRAME_IN[0]
    height_in = rows * (FRAME_IN[1] + CELL_IN[1] * count)
    with print_style():
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        all_axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, (title, group) in zip(all_axes, panels.items(), strict=False):
            shares = shares_of(group)
            grid = np.array(
                [
                    [
                        100 * shares[stack, other].median if (stack, other) in shares else math.nan
                        for other in league.stacks
                    ]
                    for stack in league.stacks
                ]
            )
            image = axes.imshow(grid, aspect="auto", cmap="RdBu", vmin=0.0, vmax=MOST)
            _write(axes, grid, league.stacks)
            axes.set_title(title, fontsize=8.5, parse_math=False)
        for axes in all_axes[len(panels) :]:
            axes.set_axis_off()
        figure.colorbar(image, ax=all_axes, label="share of a fair half (%)")
    return figure


def _write(axes: Axes, grid: Array, stacks: tuple[str, ...]) -> None:
    for (row, column), value in np.ndenumerate(grid):
        if math.isfinite(value):
            colour = "white" if abs(value - MOST / 2) > DARK_FROM else "black"
            axes.text(column, row, f"{value:.0f}", ha="center", va="center", color=colour)
    places = range(len(stacks))
    axes.set_xticks(places, stacks, rotation=45, ha="right", parse_math=False)
    axes.set_yticks(places, stacks, parse_math=False)
    axes.set_xlabel("beside a flow of")
    axes.set_ylabel("share of a flow of")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
