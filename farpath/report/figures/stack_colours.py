"""Stack colours: the one colour, line and hatch that each stack has in every figure and page.

The hues are those of Okabe and Ito (Color Universal Design, 2008), with a brown in the place of
their yellow, which is pale on paper. Readers without red, green or blue cones tell them apart, in
light and in dark pages. Stacks of one hue differ in their lines, and in hatches of areas. Flows of
one stack are shades of its colour.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Each hue on paper and on a dark page.
HUES = {
    "blue": ("#0072b2", "#2f8fd0"),
    "vermillion": ("#d55e00", "#f0742a"),
    "green": ("#009e73", "#12b98a"),
    "purple": ("#cc79a7", "#dd93bc"),
    "sky": ("#56b4e9", "#8cd0f7"),
    "orange": ("#e69f00", "#ffb833"),
    "brown": ("#7a4b1e", "#b98a5a"),
}
#: Curves that are of no one stack have shades of it.
NEUTRAL = "neutral"
NEUTRALS = ("#4a4f55", "#b7bec7")
#: Colours of series that are no stacks, as sizes, paths and mechanisms, by their index.
SERIES_COLOURS = ("#000000", *(on_paper for on_paper, _ in HUES.values()), "#7f7f7f")
#: The most flows that a figure names; further ones share ``OTHER_COLOUR``.
MOST_NAMED = 12
OTHER_COLOUR = "#7f7f7f"
#: Hatches that part the flows of a figure in grey too, by their order.
HATCHES = (
    "", "////", "....", "\\\\\\\\", "xxxx", "----", "||||", "++++", "oooo", "**", "//..",
    "\\\\--",
)  # fmt: skip
#: The stacks of each line, by hue; a stack that nobody knows has the last line.
_ROWS = (
    ("cubic", "bbr", "reno", "htcp", "vegas", "westwood", "dctcp"),
    ("bic", "scalable", "reno_2004", "htcp_2004", "fast", "veno", "highspeed"),
    ("bic_2004", "scalable_2004", "hybla", "africa", "fast_constant", "yeah", "hstcp_2004"),
    ("cdg", "udt", "lp", "ltcp", "nv", "illinois", "hstcp_lp"),
    ("udp", "udt4", "quic_ngtcp2", "quic_quinn", "bbr3", "prague", "mptcp"),
    (),
)
_PLACES = {name: (number, hue) for number, row in enumerate(_ROWS)
           for name, hue in zip(row, HUES, strict=False)}  # fmt: skip
#: The line of each row, as Plotly and as matplotlib call it, and the hatch of its areas.
_LINES: tuple[tuple[str, Any, str], ...] = (
    ("solid", "-", ""),
    ("dash", (0, (5, 2)), "////"),
    ("dot", (0, (1, 1.5)), "...."),
    ("dashdot", (0, (5, 1.5, 1, 1.5)), "\\\\\\\\"),
    ("longdash", (0, (9, 2)), "xxxx"),
    ("longdashdot", (0, (9, 2, 1, 2)), "----"),
)
#: Shades of up to five flows of a stack: parts of white, or of black if negative. Of more flows
#: they go from the darkest to the palest in equal steps.
_SHADES = (0.0, 0.45, -0.4, 0.7, -0.6)
_DARKEST, _PALEST = -0.6, 0.75


@dataclass(frozen=True)
class Look:
    """How a flow is drawn: its hue, its shade (part of white, negative of black), and its line."""

    hue: str
    line: int = 0
    shade: float = 0.0

    @property
    def colour(self) -> str:
        """The colour on paper, as #rrggbb."""
        return mixed(_on_paper(self.hue), self.shade)

    @property
    def css(self) -> str:
        """The colour on any page: its hue is a variable of the style sheet."""
        end, part = ("white" if self.shade > 0 else "black"), round(100 * abs(self.shade))
        hue = f"var(--hue-{self.hue})"
        return f"color-mix(in srgb, {hue}, {end} {part}%)" if part else hue

    @property
    def dash(self) -> str:
        """Plotly's name of the line."""
        return _LINES[self.line][0]

    @property
    def linestyle(self) -> Any:
        """Matplotlib's line."""
        return _LINES[self.line][1]

    @property
    def hatch(self) -> str:
        """Matplotlib's hatch of areas; empty for none."""
        return _LINES[self.line][2]

    @property
    def meta(self) -> dict[str, Any]:
        """What page.js makes a curve's colour from, on light and dark pages."""
        return {"colour": f"hue-{self.hue}", "shade": self.shade}


def _on_paper(hue: str) -> str:
    return NEUTRALS[0] if hue == NEUTRAL else HUES[hue][0]


def mixed(colour: str, shade: float) -> str:
    """Mix a colour with a part of white, or of black if it is negative.

    >>> mixed("#0072b2", 0.5), mixed("#0072b2", -0.5), mixed("#0072b2", 0.0)
    ('#80b8d8', '#003959', '#0072b2')
    """
    end = 255 if shade > 0 else 0
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(part + (end - part) * abs(shade)):02x}" for part in parts)


def look_of(stack: str) -> Look:
    """Return the look of a stack by its label; parameters make no difference.

    >>> look_of("cubic").hue, look_of("fast:alpha=8") == look_of("fast")
    ('blue', True)
    """
    name = stack.partition(":")[0]
    if name in _PLACES:
        line, hue = _PLACES[name]
        return Look(hue, line)
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    return Look(list(HUES)[number % len(HUES)], len(_LINES) - 1)


def shades(count: int) -> tuple[float, ...]:
    """Return the shades of so many curves of one colour.

    >>> shades(2)
    (0.0, 0.45)
    """
    if count <= len(_SHADES):
        return _SHADES[:count]
    return tuple(float(shade) for shade in np.linspace(_DARKEST, _PALEST, count))


def looks_of(stacks: Sequence[str]) -> tuple[Look, ...]:
    """Return the look of each flow of a figure by their stacks; equal ones differ in shade.

    Lines are solid unless another stack of the figure has the same hue.
    """
    looks = [look_of(stack) for stack in stacks]
    of_hue = {look.hue: {other.line for other in looks if other.hue == look.hue} for look in looks}
    looks = [look if len(of_hue[look.hue]) > 1 else Look(look.hue) for look in looks]
    of_look = {look: iter(shades(count)) for look, count in Counter(looks).items()}
    return tuple(Look(look.hue, look.line, next(of_look[look])) for look in looks)


def neutral_looks(count: int) -> tuple[Look, ...]:
    """Return the looks of so many curves of no one stack, from dark to light, each with a line."""
    if count == 1:
        return (Look(NEUTRAL),)
    steps = np.linspace(-0.5, 0.35, count)
    return tuple(
        Look(NEUTRAL, number % len(_LINES), float(shade)) for number, shade in enumerate(steps)
    )


def hue_looks(count: int) -> tuple[Look, ...]:
    """Return the looks of so many curves that differ in something else than stack and number."""
    hues = list(HUES)
    return tuple(
        Look(hues[number % len(hues)], number // len(hues) % len(_LINES)) for number in range(count)
    )


def series_colour(index: int) -> str:
    """Return the colour of the series with this index, counted from 0, that is of no stack."""
    return SERIES_COLOURS[index % len(SERIES_COLOURS)]


def hatch_of(number: int) -> str:
    """Return the hatch of the flow with this index in its figure, counted from 0."""
    return HATCHES[number % len(HATCHES)]
