"""The figure of a window over time with a formula's curve over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpath.report.figures.style import QUIET, print_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.figure import Figure

SIZE_IN = (7.5, 3.4)


@dataclass(frozen=True)
class Curve:
    """A formula's windows in packets at times in s, and the level that it returns to."""

    t_s: npt.ArrayLike
    window_packets: npt.ArrayLike
    level_packets: float


def draw_window(
    t_s: npt.ArrayLike,
    window_packets: npt.ArrayLike,
    curves: Sequence[Curve],
    formula: str,
    colour: str,
) -> Figure:
    """Draw a window in packets over time in s, and a formula's curves over it, dashed.

    ``formula``: names the curves. ``colour``: that of the flow's stack.
    """
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=SIZE_IN, layout="constrained")
        axes = figure.subplots()
        axes.plot(t_s, window_packets, color=colour, linewidth=2.2, label="measured")
        for number, curve in enumerate(curves):
            label = formula if not number else None
            axes.plot(curve.t_s, curve.window_packets, "k--", linewidth=1.0, label=label)
            axes.axhline(curve.level_packets, color=QUIET, linewidth=0.5, linestyle=":")
        axes.set_xlabel("time (s)")
        axes.set_ylabel("congestion window (packets)")
        axes.set_ylim(bottom=0)
        axes.legend(loc="lower right", frameon=False)
    return figure
