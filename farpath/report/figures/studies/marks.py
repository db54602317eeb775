"""Colours and marks that distinguish many curves."""

from __future__ import annotations

#: Okabe and Ito's colours (Color Universal Design, 2008), black first, and marks that also
#: distinguish the curves in grey.
COLOURS = (
    "#000000", "#d55e00", "#009e73", "#0072b2", "#e69fc4", "#e69f00", "#56b4e9", "#7f7f7f",
    "#8b4513",
)  # fmt: skip
MARKS = ("o", "s", "^", "v", "D", "P", "X", "<", ">")


def style_of(index: int) -> tuple[str, str]:
    """Return colour and mark of the curve with this index, counted from 0."""
    return COLOURS[index % len(COLOURS)], MARKS[index % len(MARKS)]
