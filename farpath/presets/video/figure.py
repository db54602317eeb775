"""The figure of ``video``: the bitrates of segments, and the position in the stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from farpath.presets.video.playback import Playback
from farpath.report.figures.stack_colours import series_colour
from farpath.report.figures.style import FULL_IN, QUIET, RULE, print_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from farpath.spec.changes import Timeline


def draw_playback(playback: Playback, ladder_kbps: Sequence[int], path: Timeline) -> Figure:
    """Draw the bitrate of each segment when it is asked for, and below the position over time.

    ``path``: the rate of the way to the player in bit/s. Stalls are shaded.
    """
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True)
        times = [one.t_s for one in playback.segments]
        rates = [one.kbps / 1e3 for one in playback.segments]
        for kbps in ladder_kbps:
            upper.axhline(kbps / 1e3, color=RULE, linewidth=0.5)
        upper.step(times, rates, where="post", color=series_colour(1), linewidth=0.8)
        upper.plot(times, rates, "o", color=series_colour(1), markersize=4, label="a segment")
        upper.stairs(
            [value / 1e6 for value in path.values], [*path.at_s, playback.end_s],
            baseline=None, color=QUIET, linestyle="--", label="rate of the path",
        )  # fmt: skip
        upper.set_ylim(0, 1.25 * ladder_kbps[-1] / 1e3)
        upper.set_ylabel("bitrate (Mbit/s)")
        upper.legend(loc="lower right", fontsize=7.5)
        upper.set_title(
            f"startup: {playback.startup_s:.2f} s; stalls: {len(playback.stalls)}, together "
            f"{playback.stalled_s:.2f} s"
        )
        if playback.positions:
            lower.plot(*zip(*playback.positions, strict=True), color=series_colour(1))
        for begin_s, end_s in playback.stalls:
            lower.axvspan(begin_s, end_s, color=series_colour(2), alpha=0.3, linewidth=0)
        lower.set_xlim(0, playback.end_s)
        lower.set_ylim(bottom=0)
        lower.set_ylabel("position in the stream (s)")
        lower.set_xlabel("time since the player's start (s)")
    return figure
