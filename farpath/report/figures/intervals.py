"""Points with the intervals of their means over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.estimate import estimate
from farpath.metrics.measures import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def side_by_side(position: int, index: int, number: int, spread: float) -> float:
    """Return where one of several marks of a position stands, so that all take a space around it.

    >>> [side_by_side(2, index, 3, spread=0.5) for index in range(3)]
    [1.75, 2.0, 2.25]
    """
    return position + spread * (index / max(1, number - 1) - 0.5)


def draw_intervals(
    axes: Axes,
    measures: Sequence[Measure],
    place: Callable[[Measure], float],
    mark: str,
    colour: str,
    label: str,
    *,
    joined: bool = True,
) -> None:
    """Draw the mean of measures at each place with its 95 % interval.

    ``place``: where a measure stands on the x axis; those of one place are seeds of one run. A
    single seed has no interval. ``joined``: whether a line joins the means.
    """
    by_place: dict[float, list[float]] = {}
    for each in sorted(measures, key=place):
        by_place.setdefault(place(each), []).append(each.value)
    means = [estimate(values) for values in by_place.values()]
    widths = [0.0 if math.isnan(each.half_width) else each.half_width for each in means]
    axes.errorbar(
        list(by_place), [each.mean for each in means], yerr=widths, fmt=mark,
        linestyle="-" if joined else "",
        linewidth=0.8, markersize=4, capsize=2, color=colour, label=label,
    )  # fmt: skip
