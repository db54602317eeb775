"""Markers that distinguish many curves beside their colours, and curves of marks beside theory."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure
from farpath.report.figures.stack_colours import series_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Marks distinguish the curves in grey too. Their number is not that of the colours, so that no two
#: of many curves are alike.
MARKS = ("o", "s", "^", "v", "D", "P", "X", "<", ">", "*", "p")


def style_of(index: int) -> tuple[str, str]:
    """Return colour and mark of the curve with this index, counted from 0, that is of no stack."""
    return series_colour(index), mark_of(index)


def mark_of(index: int) -> str:
    """Return the mark of the curve with this index, counted from 0."""
    return MARKS[index % len(MARKS)]


def marks_and_theory(
    axes: Axes, index: int, measures: Iterable[tuple[float, Measure]], label: str
) -> None:
    """Draw measures as marks over their abscissae, and their theory as a line of the same colour.

    ``index``: of the curve, counted from 0. A measure without theory leaves a gap in the line.
    """
    colour, mark = style_of(index)
    points = sorted(measures, key=lambda point: point[0])
    abscissae = [abscissa for abscissa, _ in points]
    axes.plot(
        abscissae, [measure.value for _, measure in points], mark, color=colour, markersize=5,
        label=label,
    )  # fmt: skip
    theory = [math.nan if each.theory is None else each.theory for _, each in points]
    axes.plot(abscissae, theory, "-", color=colour, linewidth=0.9)
