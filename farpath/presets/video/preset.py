"""``video``: an HLS stream of four bitrates, which GStreamer plays while it measures the path.

GStreamer makes the stream (x264), Caddy serves it by HTTP/1.1, and GStreamer's hlsdemux2 chooses
the bitrate of each segment by the rate at which the last ones came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from farpath.base.column import Column
from farpath.metrics.finding import Finding, at_least, at_most
from farpath.presets.preset import Commands, Preset, PresetOutput
from farpath.presets.video.playback import Playback, parse
from farpath.programs.entry import Parameter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Bitrates of the ladder in kbit/s, the lowest first, without the headers of MPEG-TS.
LADDER_KBPS = (250, 500, 1000, 2000)
SEGMENT_S = 2
#: Round trips before the first segment can be there: TCP, both playlists, segment.
STARTUP_RTTS = 4

STARTUP = Column[Playback]("startup_s", "", lambda one: one.startup_s, 3, "startup (s)")
STALLS = Column[Playback]("stalls", "", lambda one: len(one.stalls), 0, "stalls")
STALLED = Column[Playback]("stalled_s", "", lambda one: one.stalled_s, 3, "stalled (s)")
SESSION = Column[Playback]("session_s", "", lambda one: one.end_s, 3, "session (s)")
SWITCHES = Column[Playback]("switches", "", lambda one: one.switches, 0, "switches of bitrate")
BITRATE = Column[Playback](
    "bitrate_mean_kbps",
    "",
    lambda one: 8e-3 * one.played_bytes / (SEGMENT_S * len(one.played)),
    0,
    "mean bitrate (kbit/s)",
)


class Video(Preset):
    """The preset ``video``."""

    name = "video"
    summary = "startup, stalls and bitrate of an HLS stream"
    parameters = (
        Parameter("seconds", "20", "of the stream", unit="s", low=4, high=600),
        Parameter("part", "80", "per cent of the measured rate that is used", low=10, high=100),
    )

    def packages(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Return the programs, and GStreamer's parts by their files."""
        plugins = {
            "adaptivedemux2": "good", "soup": "good", "multifile": "good", "playback": "base",
            "videotestsrc": "base", "hls": "bad", "mpegtsmux": "bad", "mpegtsdemux": "bad",
            "openh264": "bad", "x264": "ugly",
        }  # fmt: skip
        return {
            "caddy": "caddy",
            "gst-launch-1.0": "gstreamer1.0-tools",
            "/usr/lib/python3/dist-packages/gi/__init__.py": "python3-gi",
            "/usr/lib/*/girepository-1.0/Gst-1.0.typelib": "gir1.2-gstreamer-1.0",
            **{
                f"/usr/lib/*/gstreamer-1.0/libgst{name}.so": f"gstreamer1.0-plugins-{kind}"
                for name, kind in plugins.items()
            },
        }

    def commands(self, values: Mapping[str, str]) -> Commands:
        """Return the player, and a server that makes the stream before it listens."""
        client = ("sh", "client.sh", f"{int(values['part']) / 100:g}")
        ladder = map(str, LADDER_KBPS)
        return Commands(client, (("sh", "server.sh", values["seconds"], *ladder),), (80,))

    def findings(self, output: PresetOutput) -> Sequence[Finding]:
        """Return startup, stalls and bitrate, and their bounds by round trips and rate."""
        playback = _playback(output)
        stream_s = int(output.values["seconds"])
        least_s = STARTUP_RTTS * output.rtt_s
        played_s = SEGMENT_S * len(playback.played)
        bounds = {
            STARTUP: at_least(least_s, f"{STARTUP_RTTS} RTT"),
            SESSION: at_least(least_s + stream_s, f"{STARTUP_RTTS} RTT + stream"),
            BITRATE: at_most(
                output.most_bits(playback.end_s) / 1e3 / played_s, "bits of the path / stream"
            ),
        }
        return [
            Finding.of_column(column, playback, bounds.get(column))
            for column in (STARTUP, STALLS, STALLED, SESSION, BITRATE, SWITCHES)
        ]

    def figure(self, output: PresetOutput) -> Figure:
        """Draw the bitrate of each segment, and the position over time."""
        from farpath.presets.video.figure import draw_playback

        playback = _playback(output)
        return draw_playback(playback, LADDER_KBPS, output.rates_to_client(playback.end_s))


def _playback(output: PresetOutput) -> Playback:
    return parse(output.text("client.out"), output.text("server.out"))


PRESET = Video()
