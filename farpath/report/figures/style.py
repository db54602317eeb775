"""Colours of text and rules, and print sizes, that all figures share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Width and height in inches: two columns of a printed page.
FULL_IN = (7.5, 4.6)
#: Width and height in inches with an additional panel.
TALL_IN = (7.5, 6.4)
#: The colours of text and of what is no flow, of region marks and notes.
INK = "#202020"
QUIET = "#606060"
RULE = "#b0b0b0"

_RC: dict[Any, Any] = {
    "font.size": 8.5,
    "axes.titlesize": 10,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "hatch.linewidth": 0.35,
    # Text as outlines, so that the letters are the same on every machine
    "svg.fonttype": "path",
    # Element names that would be random without a salt
    "svg.hashsalt": "farpath",
}


@contextmanager
def print_style() -> Iterator[None]:
    """Set sizes of text and lines while a figure is drawn or saved."""
    import matplotlib as mpl

    with mpl.rc_context(_RC):
        yield


@contextmanager
def one_frame(x_label: str, y_label: str) -> Iterator[tuple[Figure, Axes]]:
    """Yield a figure and its one frame to draw in; labels, grid and legend come when it is left."""
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        axes = figure.subplots()
        yield figure, axes
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.grid(True, color=RULE, linewidth=0.3)
        axes.legend(frameon=False, fontsize=7)
