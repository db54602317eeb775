"""One end of ``call``: sends speech as Opus over RTP, and plays what comes from the other end.

It runs with the machine's Python, which has GStreamer's bindings, and imports nothing of farpath.
Lines are JSON: ``sent`` and ``came`` with the sequence number of a packet and its Unix time in ns
(both hosts have one clock), and at the end ``statistics`` of jitter buffer and decoder. The end
that answers begins to send when the first packet has come.
"""

from __future__ import annotations

import json
import signal
import struct
import sys
import time
from typing import Any

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

PORT = 5004
#: Packets of 20 ms, as calls have them (RFC 7587).
FRAME_MS = 20
#: Time for packets that are under way at the end.
LAST_S = 12
CAPS = "application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS,payload=96"


def say(line: dict[str, Any]) -> None:
    """Write a line of JSON at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


class Endpoint:
    """Sends to a peer and plays; ``is_caller``: whether it begins and ends the call."""

    def __init__(self, peer: str, seconds: int, latency_ms: int, is_caller: bool) -> None:
        Gst.init(None)
        self.loop = GLib.MainLoop()
        self.is_caller = is_caller
        self.is_sending = False
        self.sender = Gst.parse_launch(
            f"audiotestsrc is-live=true wave=sine samplesperbuffer={48 * FRAME_MS} "
            f"num-buffers={1000 * seconds // FRAME_MS} "
            "! audio/x-raw,format=S16LE,rate=48000,channels=1 "
            f"! opusenc bitrate=32000 bitrate-type=cbr audio-type=voice frame-size={FRAME_MS} "
            "! rtpopuspay pt=96 seqnum-offset=0 "
            f"! udpsink name=sink host={peer} port={PORT} sync=false async=false"
        )
        self.player = Gst.parse_launch(
            f'udpsrc name=source port={PORT} caps="{CAPS}" '
            f"! rtpjitterbuffer name=buffer latency={latency_ms} do-lost=true "
            "! rtpopusdepay ! opusdec name=decoder plc=true ! fakesink sync=true"
        )
        self.watch(self.sender, "sink", "sink", "sent")
        self.watch(self.player, "source", "src", "came")
        for pipeline in (self.sender, self.player):
            bus = pipeline.get_bus()
            bus.add_signal_watch()
            bus.connect("message", self.message)
        self.status = 0

    def watch(self, pipeline: Any, element: str, pad: str, event: str) -> None:
        """Print the packets that pass a pad."""
        where = pipeline.get_by_name(element).get_static_pad(pad)
        kinds = Gst.PadProbeType.BUFFER | Gst.PadProbeType.BUFFER_LIST
        where.add_probe(kinds, self.passed, event)

    def passed(self, _pad: Any, info: Any, event: str) -> Any:
        """Print a packet's sequence number."""
        now_ns = time.time_ns()
        buffers = info.get_buffer_list() if info.type & Gst.PadProbeType.BUFFER_LIST else None
        count = buffers.length() if buffers else 1
        for place in range(count):
            one = buffers.get(place) if buffers else info.get_buffer()
            (number,) = struct.unpack("!H", one.extract_dup(2, 2))
            say({"event": event, "number": number, "unix_ns": now_ns})
        if event == "came" and not self.is_sending:
            GLib.idle_add(self.send)
        return Gst.PadProbeReturn.OK

    def send(self) -> bool:
        """Begin to send, once."""
        if not self.is_sending:
            self.is_sending = True
            self.sender.set_state(Gst.State.PLAYING)
        return False

    def message(self, _bus: Any, message: Any) -> None:
        """Take a message of a pipeline."""
        if message.type == Gst.MessageType.ERROR:
            error, _ = message.parse_error()
            sys.stderr.write(f"GStreamer: {error.message}\n")
            self.status = 1
            self.loop.quit()
        elif message.type == Gst.MessageType.EOS and self.is_caller:
            GLib.timeout_add_seconds(LAST_S, self.loop.quit)

    def statistics(self) -> None:
        """Print what jitter buffer and decoder have counted."""
        found = {}
        for name in ("buffer", "decoder"):
            counted = self.player.get_by_name(name).get_property("stats")
            keys = [counted.nth_field_name(place) for place in range(counted.n_fields())]
            found[name] = {key: counted.get_value(key) for key in keys}
        say({"event": "statistics", **found})

    def run(self) -> int:
        """Make the call; return the status."""
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGTERM, self.loop.quit)
        self.player.set_state(Gst.State.PLAYING)
        if self.is_caller:
            self.send()
        self.loop.run()
        self.statistics()
        return self.status


if __name__ == "__main__":
    role, peer_name, seconds_text, latency_text = sys.argv[1:]
    sys.exit(Endpoint(peer_name, int(seconds_text), int(latency_text), role == "caller").run())
