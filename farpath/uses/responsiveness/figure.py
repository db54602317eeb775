"""The figure of a responsiveness test: the time of each probe, and goodput and RPM below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.report.figures.stack_colours import series_colour
from farpath.report.figures.style import FULL_IN, QUIET, RULE, print_style
from farpath.uses.responsiveness.measure import FOREIGN, HANDSHAKE, LOADED, Responsiveness
from farpath.uses.responsiveness.table import TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = {HANDSHAKE: series_colour(1), FOREIGN: series_colour(6), LOADED: series_colour(2)}
_RPM_COLOUR = series_colour(3)
_MARKS = {HANDSHAKE: "o", FOREIGN: "^", LOADED: "x"}


def draw_responsiveness(found: Responsiveness) -> Figure:
    """Draw the times of all probes in ms, and goodput and RPM of each interval, over time."""
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        for kind, title in TITLES.items():
            points = [(probe.end_s, probe.times_ms[kind]) for probe in found.probes
                      if kind in probe.times_ms]  # fmt: skip
            upper.plot(
                *zip(*points, strict=True),
                _MARKS[kind], color=_COLOURS[kind], markersize=3, alpha=0.7, label=title,
            )  # fmt: skip
        upper.set_ylim(bottom=0)
        upper.set_ylabel("time of a probe (ms)")
        upper.legend(loc="upper left", fontsize=7.5)
        upper.axvline(0, color=RULE, linewidth=0.8)
        upper.set_title(
            f"{found.rpm.mean:.0f} RPM under load, {found.idle.mean:.0f} RPM on the idle path"
        )
        ends_s = [0.0, *(one.end_s for one in found.intervals)]
        goodputs = [one.goodput_bps / 1e6 for one in found.intervals]
        lower.stairs(goodputs, ends_s, color=QUIET, label="goodput")
        lower.set_ylim(0, 1.15 * max(goodputs))
        lower.set_ylabel("goodput (Mbit/s)")
        lower.set_xlabel("time since the first load (s)")
        right = lower.twinx()
        rpms = [(one.end_s, one.rpm) for one in found.intervals if one.rpm is not None]
        if rpms:
            right.plot(*zip(*rpms, strict=True), "s-", color=_RPM_COLOUR, markersize=3)
        right.set_ylim(0, 1.15 * found.idle.mean)
        right.set_ylabel("RPM", color=_RPM_COLOUR)
    return figure
