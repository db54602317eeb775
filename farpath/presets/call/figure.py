"""The figure of ``call``: the one-way delay of each packet, and its losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from farpath.report.figures.stack_colours import series_colour
from farpath.report.figures.style import FULL_IN, QUIET, print_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from farpath.presets.call.rtp_packets import Stream


def draw_call(streams: Sequence[Stream], least_ms: float) -> Figure:
    """Draw the delays of each direction over time; lost packets stand at the bottom.

    ``least_ms``: the one-way delay that the path allows.
    """
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        panels = figure.subplots(len(streams), 1, sharex=True, sharey=True)
        for index, (axes, stream) in enumerate(zip(panels, streams, strict=True)):
            came = [number for number in stream.sent_s if number in stream.delays_ms]
            lost = [at_s for number, at_s in stream.sent_s.items() if number not in came]
            axes.plot(
                [stream.sent_s[number] for number in came],
                [stream.delays_ms[number] for number in came],
                ".", color=series_colour(index + 1), markersize=3, label="a packet",
            )  # fmt: skip
            axes.plot(lost, [0.0] * len(lost), "x", color=series_colour(5), label="lost")
            axes.axhline(least_ms, color=QUIET, linewidth=0.8, label="least delay")
            axes.set_ylim(bottom=-0.05 * max(stream.delay_ms(100), 1.0))
            axes.set_ylabel("one-way delay (ms)")
            axes.set_title(
                f"{stream.name}: {100 * stream.lost_part:.1f} % lost, "
                f"{100 * stream.concealed_part:.1f} % concealed"
            )
        panels[0].legend(loc="upper right", fontsize=7.5)
        panels[-1].set_xlabel("time since the first packet (s)")
    return figure
