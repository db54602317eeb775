"""The map of a deployment's sites, as a figure and as text: their services, and their links."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from farpath.planning.deployment import Deployment, SiteLink
from farpath.planning.faults import fault_text
from farpath.report.figures.style import QUIET, RULE, print_style
from farpath.report.figures.wiring import HOST_COLOUR, rate_text
from farpath.spec.user_network import Shaping

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Inches of the circle's radius for each site, at least, and of the margin around it.
_RADIUS_IN, _LEAST_RADIUS_IN, _MARGIN_IN = 0.55, 1.6, 1.3
_LINE_IN = 0.17
#: Where between two sites a link's words stand: before the middle, where links may cross.
_WORDS_AT = 0.42


def shaping_words(shaping: Shaping) -> str:
    """Return what a link does to the packets of one direction.

    >>> shaping_words(Shaping(rate_bps=20_000_000, buffer_packets=100, delay_ms=45))
    '45 ms, 20 Mbit/s, buffer 100 packets'
    """
    words = [f"{shaping.delay_ms:g} ms"]
    if shaping.jitter_ms:
        words.append(f"jitter {shaping.jitter_ms:g} ms")
    if shaping.loss:
        words.append(f"loss {shaping.loss:.12g}")
    if shaping.rate_bps:
        words.append(rate_text(shaping.rate_bps))
        kind = shaping.queue.kind if shaping.queue else "buffer"
        words.append(f"{kind} {shaping.buffer_packets:,} packets")
    return ", ".join(words)


def link_lines(link: SiteLink) -> list[str]:
    """Return a line for a link that is alike in both directions, or one for each direction."""
    if link.there == link.back:
        return [f"{link.one} - {link.other}: {shaping_words(link.there)} each way"]
    return [
        f"{link.one} > {link.other}: {shaping_words(link.there)}",
        f"{link.other} > {link.one}: {shaping_words(link.back)}",
    ]


def as_text(deployment: Deployment) -> str:
    """Return sites, links and faults as lines."""
    lines = [f"{site}: {', '.join(names)}" for site, names in deployment.sites.items()]
    for link in deployment.links:
        lines += link_lines(link)
    lines += [f"fault {fault_text(fault)}" for fault in deployment.faults]
    return "\n".join([*lines, f"the end of {deployment.main} ends the run"]) + "\n"


def draw(deployment: Deployment) -> Figure:
    """Draw the sites on a circle with their services, and each link with its delays and rates."""
    from matplotlib.figure import Figure

    sites = tuple(deployment.sites)
    radius = max(_LEAST_RADIUS_IN, _RADIUS_IN * len(sites)) if len(sites) > 1 else 0.0
    places = {site: _place(number, len(sites), radius) for number, site in enumerate(sites)}
    notes = [fault_text(fault) for fault in deployment.faults]
    half_width = radius + 2 * _MARGIN_IN
    half_height = radius + _MARGIN_IN
    height = 2 * half_height + _LINE_IN * len(notes)
    with print_style():
        figure = Figure(figsize=(2 * half_width, height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(-half_width, half_width)
        axes.set_ylim(-half_height - _LINE_IN * len(notes), half_height)
        axes.set_axis_off()
        for link in deployment.links:
            one, other = places[link.one], places[link.other]
            axes.plot([one[0], other[0]], [one[1], other[1]], color=RULE, linewidth=1.2, zorder=1)
            x, y = (a + (b - a) * _WORDS_AT for a, b in zip(one, other, strict=True))
            axes.text(
                x, y, _link_words(link), fontsize=7, color=QUIET, ha="center", va="center",
                zorder=2, parse_math=False,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
            )  # fmt: skip
        for site, names in deployment.sites.items():
            words = "\n".join([site, *_shown(names)])
            axes.text(
                *places[site], words, ha="center", va="center", zorder=3, parse_math=False,
                bbox={"boxstyle": "round,pad=0.5", "facecolor": HOST_COLOUR, "edgecolor": QUIET},
            )  # fmt: skip
        figure.text(
            0.02, 1 - 0.1 / height, f"{deployment.name}: {len(deployment.services)} services at "
            f"{len(sites)} sites", va="top", fontsize=10, parse_math=False,
        )  # fmt: skip
        figure.text(
            0.02, 0.1 / height, "\n".join(notes), va="bottom", color=QUIET, parse_math=False
        )
    return figure


def _shown(names: Sequence[str], most: int = 6) -> list[str]:
    """Return the names of services in a box; of many the first."""
    more = [f"and {len(names) - most + 1} more"] if len(names) > most else []
    return [*(names[: most - 1] if more else names), *more]


def _link_words(link: SiteLink) -> str:
    if link.there == link.back:
        return shaping_words(link.there).replace(", ", "\n")
    return "\n".join(
        (
            f"to {link.other}: {shaping_words(link.there)}",
            f"to {link.one}: {shaping_words(link.back)}",
        )
    )


def _place(number: int, sites: int, radius: float) -> tuple[float, float]:
    """Return the place of a site: the first is left, and the others follow clockwise."""
    angle = math.pi - 2 * math.pi * number / sites
    return radius * math.cos(angle), radius * math.sin(angle)
