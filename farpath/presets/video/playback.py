"""Playback: what the player of ``video`` says, and which segments Caddy's log has."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from farpath.base.errors import LabFailedError

#: Logger of Caddy's lines about requests, and the names of segments: bitrate and number.
_ACCESS = "http.log.access"
_SEGMENT = re.compile(r"/(?P<kbps>\d+)-(?P<number>\d+)\.ts")


@dataclass(frozen=True)
class Segment:
    """A segment that was sent: its bitrate in kbit/s, its number, and when it was asked for.

    ``t_s``: since the player's start.
    """

    kbps: int
    number: int
    t_s: float
    size_bytes: int


@dataclass(frozen=True)
class Playback:
    """A stream as it was played, times in s since the player's start.

    ``startup_s``: when it began to play. ``stalls``: beginning and end of each pause for lack of
    data. ``end_s``: when its last picture was over. ``positions``: times with the place in the
    stream in s.
    """

    startup_s: float
    stalls: Sequence[tuple[float, float]]
    end_s: float
    positions: Sequence[tuple[float, float]]
    segments: Sequence[Segment]

    @property
    def stalled_s(self) -> float:
        """The time for which it stood still."""
        return sum(end_s - begin_s for begin_s, end_s in self.stalls)

    @cached_property
    def played(self) -> tuple[Segment, ...]:
        """The segments that were played: of those that were sent twice the last."""
        by_number = {one.number: one for one in self.segments}
        return tuple(by_number[number] for number in sorted(by_number))

    @property
    def switches(self) -> int:
        """How often a segment has another bitrate than the one before."""
        rates = [one.kbps for one in self.played]
        return sum(a != b for a, b in pairwise(rates))

    @property
    def played_bytes(self) -> int:
        """The bytes of the segments that were played."""
        return sum(one.size_bytes for one in self.played)


def parse(player: str, server: str) -> Playback:
    """Return the playback by the player's lines and the server's log; raises LabFailedError."""
    try:
        events = [json.loads(line) for line in player.splitlines() if line.startswith("{")]
        lines = [json.loads(line) for line in server.splitlines() if line.startswith("{")]
        return _playback(events, [one for one in lines if _ACCESS in one.get("logger", "")])
    except (KeyError, ValueError, StopIteration) as error:
        raise LabFailedError("the player did not play the stream to its end", player[-2000:]) from (
            error
        )


def _playback(events: Sequence[dict[str, Any]], requests: Sequence[dict[str, Any]]) -> Playback:
    began_s = next(one["unix_s"] for one in events if one["event"] == "start")
    startup_s = next(
        one["t_s"] for one in events if one["event"] == "state" and one["new"] == "playing"
    )
    end_s = next(one["t_s"] for one in events if one["event"] == "end")
    stalls: list[tuple[float, float]] = []
    begin_s = None
    for one in events:
        if one["event"] == "buffering" and startup_s < one["t_s"] < end_s:
            begin_s = one["t_s"]
        elif one["event"] == "buffered" and begin_s is not None:
            stalls.append((begin_s, one["t_s"]))
            begin_s = None
    positions = [
        (one["t_s"], one["position_s"])
        for one in events
        if one["event"] == "position" and one["position_s"] is not None
    ]
    segments = []
    for one in requests:
        match = _SEGMENT.fullmatch(one["request"]["uri"])
        if match and one["size"]:
            # The log has the time at which an answer was over
            asked_s = one["ts"] - one["duration"] - began_s
            segments.append(Segment(int(match["kbps"]), int(match["number"]), asked_s, one["size"]))
    if not segments:
        raise ValueError("no segment was sent")
    segments.sort(key=lambda one: one.t_s)
    return Playback(startup_s, stalls, end_s, positions, segments)
