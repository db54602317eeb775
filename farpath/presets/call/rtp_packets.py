"""RTP packets of a call: when each left one end and reached the other, as both ends have it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from farpath.base.errors import LabFailedError

#: Sound of a packet in ms.
FRAME_MS = 20


@dataclass(frozen=True)
class Stream:
    """The packets of one direction, and what the end that plays them has concealed.

    ``name``: the end to which they go. ``sent_s``: by sequence number, in s since the first.
    ``delays_ms``: one-way delays of those that came. ``concealed``: the sound that the decoder made
    of its own, in packets. ``late``: packets that came after their time to play.
    """

    name: str
    sent_s: Mapping[int, float]
    delays_ms: Mapping[int, float]
    concealed: float
    late: int

    @property
    def lost_part(self) -> float:
        """The part of the packets that did not come."""
        return 1 - len(self.delays_ms) / len(self.sent_s)

    @property
    def unplayed_part(self) -> float:
        """The part of the packets that did not come in time."""
        return self.lost_part + self.late / len(self.sent_s)

    @property
    def concealed_part(self) -> float:
        """The part of the sound that the decoder made of its own."""
        return self.concealed / len(self.sent_s)

    def delay_ms(self, percentile: float) -> float:
        """Return a percentile of the one-way delays in ms."""
        import numpy as np

        return float(np.percentile(list(self.delays_ms.values()), percentile))


def parse(caller: str, callee: str) -> tuple[Stream, ...]:
    """Return both directions by the lines of both ends; raises LabFailedError."""
    try:
        ends = [_events(caller), _events(callee)]
        return (_stream("to server", *ends), _stream("to client", *reversed(ends)))
    except (KeyError, ValueError, IndexError) as error:
        raise LabFailedError("an end of the call has no packets", callee[-2000:]) from error


def _events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def _stream(
    name: str, sender: Sequence[dict[str, Any]], player: Sequence[dict[str, Any]]
) -> Stream:
    sent_ns = {one["number"]: one["unix_ns"] for one in sender if one["event"] == "sent"}
    came_ns: dict[int, int] = {}
    for one in player:
        if one["event"] == "came":
            came_ns.setdefault(one["number"], one["unix_ns"])
    if not came_ns:
        raise ValueError("no packet came")
    (statistics,) = (one for one in player if one["event"] == "statistics")
    begin_ns = min(sent_ns.values())
    return Stream(
        name,
        {number: (at_ns - begin_ns) / 1e9 for number, at_ns in sent_ns.items()},
        {number: (at_ns - sent_ns[number]) / 1e6 for number, at_ns in sorted(came_ns.items())},
        statistics["decoder"]["plc-duration"] / (FRAME_MS * 1e6),
        statistics["buffer"]["num-late"],
    )
