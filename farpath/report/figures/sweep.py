"""The heat map of a sweep: a metric's mean over seeds for each combination of values."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import TYPE_CHECKING

import numpy as np

from farpath.base.errors import BadInputError
from farpath.campaign.sweep import SweepOutcome
from farpath.report.figures.style import print_style
from farpath.report.tables.sweep import METRICS, SweepMetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from farpath.analysis.metrics import Array

#: An option and its values; a figure with one swept option has one without name.
Axis = tuple[str, tuple[str, ...]]
NO_AXIS: Axis = ("", ("",))
#: The most panels in a row of the figure; inches of a cell, and around the cells of a panel.
PANELS_IN_ROW = 3
CELL_IN, FRAME_IN = (0.75, 0.4), (1.2, 0.9)
#: Numbers are dark in cells above this fraction of the colour scale, which are light.
LIGHT_PART = 0.6


def metric_by_key(key: str) -> SweepMetric:
    """Return a metric of sweeps; raise BadInputError for a key that none has."""
    for metric in METRICS:
        if metric.key == key:
            return metric
    keys = ", ".join(metric.key for metric in METRICS)
    raise BadInputError(f"METRIC is '{key}': it must be one of {keys}")


def draw_heat_map(outcome: SweepOutcome, metric: SweepMetric = METRICS[0]) -> Figure:
    """Draw a metric's means over seeds.

    The first option with several values is the vertical axis, the second the horizontal one; each
    combination of the others has a panel. A combination without a record stays empty.
    """
    from matplotlib.figure import Figure

    several: list[Axis] = [
        (name, values) for name, values in outcome.sweep.axes.items() if len(values) > 1
    ]
    upright, across, *further = [*several, NO_AXIS, NO_AXIS][: max(2, len(several))]
    panels = list(itertools.product(*(values for _, values in further)))
    means = _means(outcome, [upright, across, *further], metric)
    grids = [
        np.array([[means.get((up, at, *panel), math.nan) for at in across[1]] for up in upright[1]])
        for panel in panels
    ]
    limits = _limits(grids)
    columns = min(PANELS_IN_ROW, len(panels))
    rows = math.ceil(len(panels) / columns)
    width_in = columns * (FRAME_IN[0] + CELL_IN[0] * len(across[1])) + FRAME_IN[0]
    height_in = rows * (FRAME_IN[1] + CELL_IN[1] * len(upright[1]))
    with print_style():
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        all_axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, grid, panel in zip(all_axes, grids, panels, strict=False):
            image = axes.imshow(grid, aspect="auto", cmap="viridis", vmin=limits[0], vmax=limits[1])
            _write_values(axes, grid, limits)
            _name_axes(axes, upright, across)
            names = [f"{name} {value}" for (name, _), value in zip(further, panel, strict=True)]
            axes.set_title(", ".join(names), fontsize=8.5, parse_math=False)
        for axes in all_axes[len(panels) :]:
            axes.set_axis_off()
        figure.colorbar(image, ax=all_axes, label=metric.words)
    return figure


def _means(
    outcome: SweepOutcome, axes: Sequence[Axis], metric: SweepMetric
) -> dict[tuple[str, ...], float]:
    """Return the metric's mean over seeds by the values of the axes."""
    by_values: dict[tuple[str, ...], list[float]] = {}
    for swept in outcome.runs:
        key = tuple(swept.run.values.get(name, "") for name, _ in axes)
        by_values.setdefault(key, []).append(metric.of(swept.member.run.summary))
    return {key: statistics.fmean(values) for key, values in by_values.items()}


def _limits(grids: Sequence[Array]) -> tuple[float, float]:
    """Return the ends of the colour scale that all panels share; it begins at 0."""
    values = np.concatenate([grid.ravel() for grid in grids])
    defined = values[np.isfinite(values)]
    largest = float(defined.max()) if defined.size else 0.0
    return min(0.0, float(defined.min()) if defined.size else 0.0), largest or 1.0


def _write_values(axes: Axes, grid: Array, limits: tuple[float, float]) -> None:
    light_from = limits[0] + LIGHT_PART * (limits[1] - limits[0])
    for (row, column), value in np.ndenumerate(grid):
        if math.isfinite(value):
            colour = "black" if value > light_from else "white"
            axes.text(column, row, f"{value:.3g}", ha="center", va="center", color=colour)


def _name_axes(axes: Axes, upright: Axis, across: Axis) -> None:
    axes.set_yticks(range(len(upright[1])), upright[1], parse_math=False)
    axes.set_xticks(range(len(across[1])), across[1], parse_math=False)
    axes.set_ylabel(upright[0])
    axes.set_xlabel(across[0])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
