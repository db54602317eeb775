"""Colours, hatches and print sizes that all figures share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

#: Width and height in inches: two columns of a printed page.
FULL_IN = (7.5, 4.6)
#: Width and height in inches with an additional panel.
TALL_IN = (7.5, 6.4)
#: The colour of further flows than a style has colours for.
OTHER_COLOUR = "#7f7f7f"
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


@dataclass(frozen=True)
class Style:
    """Colours by flow, in order, and hatches where colour alone is not enough."""

    name: str
    flows: tuple[str, ...]
    hatches: tuple[str, ...] = ()

    def colour(self, number: int) -> str:
        """Return the colour of the flow with this index in the schedule, counted from 0."""
        return self.flows[number] if number < len(self.flows) else OTHER_COLOUR

    def hatch(self, number: int) -> str:
        """Return the flow's hatch, empty for none."""
        return self.hatches[number] if number < len(self.hatches) else ""


#: Flow 1 is red, 2 green, 3 blue, 4 pink, as on the testbed's page; then eight other colours.
NORMAL = Style(
    "normal",
    (
        "#d62728", "#2ca02c", "#1f77b4", "#f78fc5", "#ffb800", "#6a3fd8", "#7a5524", "#63d2c4",
        "#e321d3", "#93e000", "#ff7a1a", "#c9b8f0",
    ),
)  # fmt: skip
#: The same roles in the colours of Okabe and Ito (Color Universal Design, 2008). The eight others
#: differ from these and each other without red and without green cones. The hatches distinguish
#: flows in grey too.
COLOUR_BLIND = Style(
    "colour-blind",
    (
        "#d55e00", "#009e73", "#0072b2", "#e69fc4", "#eecc00", "#7766ff", "#992222", "#33ee88",
        "#ccaaff", "#3a2bff", "#774466", "#1144aa",
    ),
    (
        "", "////", "....", "\\\\\\\\", "xxxx", "----", "||||", "++++", "oooo", "**", "//..",
        "\\\\--",
    ),
)  # fmt: skip


@contextmanager
def print_style() -> Iterator[None]:
    """Set sizes of text and lines while a figure is drawn or saved."""
    import matplotlib as mpl

    with mpl.rc_context(_RC):
        yield
