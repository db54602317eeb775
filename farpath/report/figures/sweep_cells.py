"""The figure of a sweep: means over seeds, as cells of two options or a line over one."""

from __future__ import annotations

import itertools
import math
import statistics
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from farpath.metrics.run_settings import SETTINGS
from farpath.report.figures.stack_colours import look_of, looks_of
from farpath.report.figures.style import INK, QUIET, RULE, print_style
from farpath.report.tables.sweep_results import SweepResults, SweptRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from farpath.base.column import Column
    from farpath.metrics.run import Array

#: An option and its values.
Axis = tuple[str, tuple[str, ...]]
#: What axes are called, by option; other options have their own names.
AXIS_NAMES = {
    "rtt": "base RTT",
    "rate": "rate of the bottleneck",
    "buffer": "buffer",
    "loss": "random loss",
    "stack": "stack",
    "queue": "queue",
    "window": "window",
}
#: The most panels in a row of the figure; inches of a cell, and around the cells of a panel.
PANELS_IN_ROW = 3
CELL_IN, FRAME_IN = (0.75, 0.4), (1.2, 0.9)
#: The least width of a figure in inches, the characters that fit an inch, and a line's panel.
LEAST_WIDTH_IN, CHARS_IN, LINE_IN = 4.2, 15, (4.8, 2.6)
#: Colour maps: light is good. Cells lighter than this part of white have dark numbers.
MORE, LESS, LIGHT_PART = "viridis", "viridis_r", 0.5
#: How much higher a line's axis is than its largest value.
HEADROOM = 1.08
#: An axis of numbers is logarithmic if the largest is more than this times the smallest.
LINEAR_UP_TO = 10.0
#: Settings in which swept options are numbers, by option.
_NUMBERS = {"rtt": "rtt_ms", "rate": "rate_bps", "buffer": "buffer_bytes", "loss": "loss"}


def draw_sweep(results: SweepResults, key: str = "throughput_mbps") -> Figure:
    """Draw a column of a sweep.

    With one swept option the runs are dots, and a line goes through their means. With several the
    means are cells: the first option is the vertical axis, the second the horizontal one, and each
    combination of the others has a panel. A combination without a record stays empty.
    """
    column = results.column(key)
    several: list[Axis] = [
        (name, values) for name, values in results.outcome.run_set.axes.items() if len(values) > 1
    ]
    with print_style():
        return _heat_map(results, column, several) if len(several) > 1 else _lines(
            results, column, several[0] if several else ("", ("",)))  # fmt: skip


def _title(results: SweepResults, column: Column[SweptRun], width_in: float) -> str:
    seeds = len({run.plan.seed for run in results.runs})
    text = f"{column.words}, mean of {seeds} seeds" if seeds > 1 else column.words
    return fill(text[:1].upper() + text[1:], round(width_in * CHARS_IN))


def _axis_name(option: str) -> str:
    return AXIS_NAMES.get(option, option.replace("_", " "))


def _heat_map(results: SweepResults, column: Column[SweptRun], several: Sequence[Axis]) -> Figure:
    from matplotlib.figure import Figure

    upright, across, *further = several
    panels = list(itertools.product(*(values for _, values in further)))
    means = _means(results, [upright, across, *further], column)
    grids = [
        np.array([[means.get((up, at, *panel), math.nan) for at in across[1]] for up in upright[1]])
        for panel in panels
    ]
    limits = _limits(grids)
    columns = min(PANELS_IN_ROW, len(panels))
    rows = math.ceil(len(panels) / columns)
    width_in = columns * (FRAME_IN[0] + CELL_IN[0] * len(across[1])) + FRAME_IN[0]
    width_in = max(LEAST_WIDTH_IN, width_in)
    height_in = rows * (FRAME_IN[1] + CELL_IN[1] * len(upright[1])) + 0.5
    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    all_axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, grid, panel in zip(all_axes, grids, panels, strict=False):
        colours = LESS if column.less_is_better else MORE
        image = axes.imshow(grid, aspect="auto", cmap=colours, vmin=limits[0], vmax=limits[1])
        _write_values(axes, grid, image.to_rgba(grid))
        _name_axes(axes, upright, across)
        names = [
            f"{_axis_name(name)} {value}" for (name, _), value in zip(further, panel, strict=True)
        ]
        axes.set_title(", ".join(names), fontsize=8.5, parse_math=False)
    for axes in all_axes[len(panels) :]:
        axes.set_axis_off()
    figure.colorbar(image, ax=all_axes, label=_unit(column))
    figure.suptitle(_title(results, column, width_in), fontsize=10, parse_math=False)
    return figure


def _means(
    results: SweepResults, axes: Sequence[Axis], column: Column[SweptRun]
) -> dict[tuple[str, ...], float]:
    """Return a column's mean over seeds by the values of the axes."""
    by_values: dict[tuple[str, ...], list[float]] = {}
    for run in results.runs:
        key = tuple(run.values.get(name, "") for name, _ in axes)
        by_values.setdefault(key, []).append(column.number_of(run))
    return {key: statistics.fmean(values) for key, values in by_values.items()}


def _limits(grids: Sequence[Array]) -> tuple[float, float]:
    """Return the ends of the colour scale that all panels share; it begins at 0."""
    values = np.concatenate([grid.ravel() for grid in grids])
    defined = values[np.isfinite(values)]
    largest = float(defined.max()) if defined.size else 0.0
    return min(0.0, float(defined.min()) if defined.size else 0.0), largest or 1.0


def _write_values(axes: Axes, grid: Array, colours: Array) -> None:
    """Write each cell's number, dark on light colours; ``colours``: red, green, blue and alpha."""
    for (row, column), value in np.ndenumerate(grid):
        if math.isfinite(value):
            # Weights of ITU-R BT.601: how light a colour looks
            light = float(colours[row, column, :3] @ (0.299, 0.587, 0.114))
            colour = "black" if light > LIGHT_PART else "white"
            axes.text(column, row, f"{value:.3g}", ha="center", va="center", color=colour)


def _name_axes(axes: Axes, upright: Axis, across: Axis) -> None:
    axes.set_yticks(range(len(upright[1])), upright[1], parse_math=False)
    axes.set_xticks(range(len(across[1])), across[1], parse_math=False)
    axes.set_ylabel(_axis_name(upright[0]))
    axes.set_xlabel(_axis_name(across[0]))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _lines(results: SweepResults, column: Column[SweptRun], axis: Axis) -> Figure:
    """Draw a column against one option, and the flows' shares below if runs have several flows."""
    from matplotlib.figure import Figure

    shares = results.shares
    panels = 2 if shares and column.key not in [each.key for each in shares] else 1
    size_in = (LINE_IN[0], LINE_IN[1] * panels)
    figure = Figure(figsize=size_in, layout="constrained")
    upper, *lower = figure.subplots(panels, 1, sharex=True, squeeze=False).flat
    _draw_line(upper, results, column, axis, _colours(results, column, axis))
    upper.set_ylabel(_unit(column))
    upper.set_title(_title(results, column, size_in[0]), fontsize=10, parse_math=False)
    for below in lower:
        stacks = [results.stacks_of(name)[0] for name in results.flow_names]
        for name, share, look in zip(results.flow_names, shares, looks_of(stacks), strict=True):
            kinds = " or ".join(dict.fromkeys(filter(None, results.stacks_of(name))))
            _draw_line(below, results, share, axis, [look.colour] * len(axis[1]), f"{name} {kinds}")
        below.set_ylim(0, 1)
        below.set_ylabel("share of the flows' bits")
        legend = below.legend(frameon=False, loc="best")
        for text in legend.get_texts():
            text.set_parse_math(False)
    (lower or [upper])[-1].set_xlabel(_axis_name(axis[0]))
    return figure


def _colours(results: SweepResults, column: Column[SweptRun], axis: Axis) -> list[str]:
    """Return the colour of each value: of its stack, of the column's flow, or of no stack."""
    if axis[0] == "stack" and not results.flow_names:
        return [look_of(value).colour for value in axis[1]]
    flow = column.key.partition("_")[0]
    stacks = set(results.stacks_of(flow)) if flow in results.flow_names else set()
    return [look_of(stacks.pop()).colour if len(stacks) == 1 else INK] * len(axis[1])


def _unit(column: Column[SweptRun]) -> str:
    """Return what is in a column's words in brackets at their end; nothing of a pure number."""
    words, bracket, rest = column.words.rpartition(" (")
    return rest.removesuffix(")") if bracket and rest.endswith(")") and words else ""


def _draw_line(
    axes: Axes,
    results: SweepResults,
    column: Column[SweptRun],
    axis: Axis,
    colours: Sequence[str],
    label: str = "",
) -> None:
    """Draw each run as a dot, and a line through the means if the option is a number."""
    positions, is_number = _positions(results, axis)
    means = _means(results, [axis], column)
    values = [column.number_of(run) for run in results.runs]
    for run, value in zip(results.runs, values, strict=True):
        index = axis[1].index(run.values.get(axis[0], ""))
        axes.plot(positions[index], value, "o", color=colours[index], markersize=3.5, alpha=0.8)
    heights = [means.get((value,), math.nan) for value in axis[1]]
    if is_number:
        axes.plot(positions, heights, "-", color=colours[0], linewidth=1, label=label)
    elif label:
        axes.plot([], [], "o", color=colours[0], label=label)
    if is_number and positions[0] > 0 and max(positions) > LINEAR_UP_TO * min(positions):
        axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xticks(positions, axis[1], parse_math=False)
    least, most = _limits([np.array(values)])
    axes.set_ylim(least, least + HEADROOM * (most - least))
    if not is_number:
        axes.set_xlim(-0.5, len(positions) - 0.5)
    axes.grid(True, axis="y", color=RULE, linewidth=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=QUIET, labelcolor=INK)


def _positions(results: SweepResults, axis: Axis) -> tuple[list[float], bool]:
    """Return where the values of an option lie on its axis, and whether they are numbers."""
    name, values = axis
    places = [float(number) for number in range(len(values))]
    if name not in _NUMBERS:
        return places, False
    setting = next(each for each in SETTINGS if each.key == _NUMBERS[name])
    found = {run.values[name]: setting.number_of(run.member) for run in results.runs}
    numbers = [found.get(value, math.nan) for value in values]
    ascending = sorted(set(numbers))
    if any(math.isnan(number) for number in numbers) or len(ascending) < len(values):
        return places, False
    return numbers, True
