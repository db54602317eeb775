"""Curves of a figure as numbers."""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D


def xs(line: Line2D) -> list[float]:
    """A curve's values on the horizontal axis."""
    return [float(x) for x in np.asarray(line.get_xdata())]


def ys(line: Line2D) -> list[float]:
    """A curve's values on the vertical axis."""
    return [float(y) for y in np.asarray(line.get_ydata())]
