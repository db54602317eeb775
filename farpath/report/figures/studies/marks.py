"""Colours and marks that distinguish many curves, and curves of marks beside theory."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from farpath.analysis.studies.measure import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe and Ito's colours (Color Universal Design, 2008), black first, and marks that also
#: distinguish the curves in grey. Their numbers differ, so that no two of many curves are alike.
COLOURS = (
    "#000000", "#d55e00", "#009e73", "#0072b2", "#e69fc4", "#e69f00", "#56b4e9", "#7f7f7f",
    "#8b4513",
)  # fmt: skip
MARKS = ("o", "s", "^", "v", "D", "P", "X", "<", ">", "*", "p")


def style_of(index: int) -> tuple[str, str]:
    """Return colour and mark of the curve with this index, counted from 0."""
    return COLOURS[index % len(COLOURS)], MARKS[index % len(MARKS)]


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
