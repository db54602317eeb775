"""``call``: speech in both directions at once, as Opus over RTP by GStreamer.

Each end sends a packet of 20 ms of sound fifty times a second (RFC 7587), and plays what comes
behind a jitter buffer; its decoder conceals what is missing (RFC 6716, 4.4). Both hosts have one
clock, so that the delay of a packet is one-way, from its sender's socket to its receiver's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from farpath.base.column import Column
from farpath.metrics.finding import Bound, Finding, at_least, at_most
from farpath.presets.preset import Commands, Preset, PresetOutput
from farpath.programs.entry import Parameter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from farpath.presets.call.rtp_packets import Stream

#: Standard deviations within which a share of random losses lies, but in one of 30,000 runs.
DEVIATIONS = 4
#: Part of a delay by which the clocks of system calls may exceed it, in ms.
READING_MS = 0.5

DELAY_MIN = Column["Stream"](
    "one_way_min_ms", "", lambda one: one.delay_ms(0), 2, "least one-way delay (ms)"
)
DELAY_P99 = Column["Stream"](
    "one_way_p99_ms", "", lambda one: one.delay_ms(99), 2, "99th percentile (ms)"
)
LOST = Column["Stream"]("lost_percent", "", lambda one: 100 * one.lost_part, 2, "lost (%)")
CONCEALED = Column["Stream"](
    "concealed_percent", "", lambda one: 100 * one.concealed_part, 2, "concealed (%)"
)


class Call(Preset):
    """The preset ``call``."""

    name = "call"
    summary = "delay, loss and concealment of speech over RTP"
    parameters = (
        Parameter("seconds", "10", "of speech", unit="s", low=1, high=3600),
        Parameter("buffer", "60", "jitter buffer", unit="ms", low=0, high=2000),
    )

    def packages(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Return GStreamer's parts by their files."""
        plugins = {"opus": "base", "audiotestsrc": "base", "rtp": "good", "rtpmanager": "good"}
        return {
            "/usr/lib/python3/dist-packages/gi/__init__.py": "python3-gi",
            "/usr/lib/*/girepository-1.0/Gst-1.0.typelib": "gir1.2-gstreamer-1.0",
            **{
                f"/usr/lib/*/gstreamer-1.0/libgst{name}.so": f"gstreamer1.0-plugins-{kind}"
                for name, kind in plugins.items()
            },
        }

    def commands(self, values: Mapping[str, str]) -> Commands:
        """Return both ends, of which the client calls."""
        asked = values["seconds"], values["buffer"]
        caller = ("sh", "endpoint.sh", "caller", "server", *asked)
        return Commands(caller, (("sh", "endpoint.sh", "callee", "client", *asked),))

    def findings(self, output: PresetOutput) -> Sequence[Finding]:
        """Return delays and losses of both directions, and their bounds by the path."""
        found = []
        for index, stream in enumerate(_streams(output)):
            bounds = {
                DELAY_MIN: at_least(least_delay_ms(output), "RTT / 2 - jitter"),
                DELAY_P99: delay_bound(output, is_back=index == 1),
                LOST: loss_bound(output, len(stream.sent_s)),
                CONCEALED: concealed_bound(stream),
            }
            found += [
                Finding.of_column(column, stream, bound, stream.name)
                for column, bound in bounds.items()
            ]
        return found

    def figure(self, output: PresetOutput) -> Figure:
        """Draw the one-way delay of each packet, and those that were lost."""
        from farpath.presets.call.figure import draw_call

        return draw_call(_streams(output), least_delay_ms(output))


def least_delay_ms(output: PresetOutput) -> float:
    """Return the least one-way delay of a packet in ms."""
    return 1e3 * output.path.least_one_way_delay_s - output.path.jitter_ms


def delay_bound(output: PresetOutput, is_back: bool) -> Bound | None:
    """Return the longest one-way delay: that of the path, its jitter, and a full queue.

    A queue that changes its rate, or that is none of drop-tail, has no bound here.
    """
    path = output.path
    if path.queue is not None or path.is_changing:
        return None
    rate_bps, buffer_bytes = path.rate_bps, path.buffer_bytes
    if is_back and path.up_rate_bps:
        rate_bps, buffer_bytes = path.up_rate_bps, path.up_buffer_bytes
    queue_ms = 8e3 * (buffer_bytes + path.frame_bytes) / rate_bps
    most_ms = max(path.rtts_ms) / 2 + path.jitter_ms + queue_ms + READING_MS
    return at_most(most_ms, "RTT / 2 + jitter + full queue")


def loss_bound(output: PresetOutput, packets: int) -> Bound | None:
    """Return the largest share of random losses in per cent; None where others are asked for."""
    loss = output.path.loss
    if output.plan.droppers or output.path.background or output.path.is_changing:
        return None
    most = loss + DEVIATIONS * math.sqrt(loss * (1 - loss) / packets)
    return at_most(100 * most, f"loss + {DEVIATIONS} standard deviations of {packets} packets")


def concealed_bound(stream: Stream) -> Bound | None:
    """Return the largest share of concealed sound in per cent: that of packets without a sound."""
    return at_most(100 * stream.unplayed_part, "lost and late packets")


def _streams(output: PresetOutput) -> tuple[Stream, ...]:
    from farpath.presets.call.rtp_packets import parse

    return parse(output.text("client.out"), output.text("server.out"))


PRESET = Call()
