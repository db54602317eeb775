"""Marks: colours and shapes by which many curves are told apart."""

from __future__ import annotations

#: Okabe and Ito's colours (Color Universal Design, 2008), black first, and marks that also
#: part them in grey.
COLOURS = (
    "#000000", "#d55e00", "#009e73", "#0072b2", "#e69fc4", "#e69f00", "#56b4e9", "#7f7f7f",
    "#8b4513",
)  # fmt: skip
MARKS = ("o", "s", "^", "v", "D", "P", "X", "<", ">")


def style_of(place: int) -> tuple[str, str]:
    """Colour and mark of what is at this place, counted from 0."""
    return COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
