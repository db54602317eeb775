"""Deviations of measured from printed values, as texts."""

from __future__ import annotations

import math

from farpath.base.column import NOTHING


def ratio(measured: float | None, printed: float) -> str:
    """Format the deviation of a measured from a printed value, in per cent of the latter."""
    if measured is None or not math.isfinite(measured) or printed == 0:
        return NOTHING
    return f"{round(100 * (measured / printed - 1)) + 0.0:+.0f} %"


def difference(measured: float, printed: float, decimals: int = 2) -> str:
    """Format measured minus printed, with its sign."""
    if not math.isfinite(measured):
        return NOTHING
    return f"{round(measured - printed, decimals) + 0.0:+.{decimals}f}"
