"""Player of ``video``: GStreamer's playbin3 plays an HLS stream, and says when what happened.

It runs with the machine's Python, which has GStreamer's bindings, and imports nothing of farpath.
Lines are JSON: ``t_s`` since the start, ``event``, and what belongs to it. As GStreamer's
documentation asks (Buffering), it pauses when less than the buffer is there, and plays on when all
of it is.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

#: Between two looks at the position, in ms.
LOOK_MS = 100


class Player:
    """Plays a stream to its end; ``status``: 1 after an error."""

    def __init__(self, uri: str, bandwidth_part: float) -> None:
        Gst.init(None)
        self.began_s = time.monotonic()
        self.loop = GLib.MainLoop()
        self.bandwidth_part = bandwidth_part
        self.is_started = self.is_stalled = False
        self.status = 0
        sink = Gst.ElementFactory.make("fakevideosink")
        sink.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, self.rendered)
        self.playbin = Gst.ElementFactory.make("playbin3")
        self.playbin.set_property("video-sink", sink)
        self.playbin.set_property("uri", uri)
        self.playbin.connect("deep-element-added", self.added)
        bus = self.playbin.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self.message)

    def say(self, event: str, **further: Any) -> None:
        """Print an event."""
        line = {"t_s": round(time.monotonic() - self.began_s, 6), "event": event, **further}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    def added(self, _playbin: Any, _bin: Any, element: Any) -> None:
        """Give the demuxer the part of the measured bandwidth that it may take."""
        factory = element.get_factory()
        if factory is not None and factory.get_name() == "hlsdemux2":
            element.set_property("bandwidth-target-ratio", self.bandwidth_part)

    def rendered(self, _pad: Any, _info: Any) -> Any:
        """Say that the first picture has come."""
        if not self.is_started:
            self.is_started = True
            self.say("first-picture")
        return Gst.PadProbeReturn.OK

    def message(self, _bus: Any, message: Any) -> None:
        """Take a message of the pipeline."""
        if message.type == Gst.MessageType.BUFFERING:
            self.buffering(message.parse_buffering())
        elif message.type == Gst.MessageType.STATE_CHANGED and message.src is self.playbin:
            old, new, _ = message.parse_state_changed()
            self.say("state", old=old.value_nick, new=new.value_nick)
        elif message.type == Gst.MessageType.EOS:
            self.say("end", position_s=self.position_s())
            self.loop.quit()
        elif message.type == Gst.MessageType.ERROR:
            error, _ = message.parse_error()
            sys.stderr.write(f"GStreamer: {error.message}\n")
            self.status = 1
            self.loop.quit()

    def buffering(self, percent: int) -> None:
        """Pause while the buffer fills."""
        if percent < 100 and not self.is_stalled:
            self.is_stalled = True
            self.say("buffering", percent=percent)
            self.playbin.set_state(Gst.State.PAUSED)
        elif percent >= 100 and self.is_stalled:
            self.is_stalled = False
            self.say("buffered")
            self.playbin.set_state(Gst.State.PLAYING)

    def position_s(self) -> float | None:
        """Return the position, or None before there is one."""
        is_known, position = self.playbin.query_position(Gst.Format.TIME)
        return round(position / 1e9, 3) if is_known else None

    def look(self) -> bool:
        """Say the position."""
        self.say("position", position_s=self.position_s())
        return True

    def play(self) -> int:
        """Play to the end; return the status."""
        self.say("start", unix_s=time.time())
        self.playbin.set_state(Gst.State.PLAYING)
        GLib.timeout_add(LOOK_MS, self.look)
        self.loop.run()
        self.playbin.set_state(Gst.State.NULL)
        return self.status


if __name__ == "__main__":
    sys.exit(Player(sys.argv[1], float(sys.argv[2])).play())
