"""Scoreboard: what a sender knows of each segment that it has sent, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

#: Flags of ``TCP_SKB_CB(skb)->sacked`` (include/net/tcp.h).
SACKED, RETRANSMITTED, LOST, EVER_RETRANSMITTED = 0x01, 0x02, 0x04, 0x80
#: What people read of a flag.
_WORDS = {SACKED: "sacked", RETRANSMITTED: "retransmitted", LOST: "lost"}


@dataclass(frozen=True)
class Segment:
    """A segment without acknowledgement: its bytes after ``snd_una``, and its flags."""

    start_bytes: int
    end_bytes: int
    flags: int

    @property
    def words(self) -> str:
        """Its state for people.

        >>> Segment(0, 1448, LOST | RETRANSMITTED).words, Segment(0, 1448, 0).words
        ('retransmitted, lost', 'in flight')
        """
        named = [word for flag, word in _WORDS.items() if self.flags & flag]
        if self.flags & EVER_RETRANSMITTED and not self.flags & RETRANSMITTED:
            named.append("retransmitted before")
        return ", ".join(named) or "in flight"


def ranges(segments: Sequence[Segment]) -> Iterator[dict[str, Any]]:
    """Yield the ranges of segments of one state that follow on one another.

    >>> list(ranges([Segment(0, 10, LOST), Segment(10, 20, LOST)]))
    [{'start_bytes': 0, 'end_bytes': 20, 'segments': 2, 'state': 'lost'}]
    """
    for words, group in groupby(segments, key=lambda segment: segment.words):
        alike = list(group)
        yield {
            "start_bytes": alike[0].start_bytes,
            "end_bytes": alike[-1].end_bytes,
            "segments": len(alike),
            "state": words,
        }


def scoreboard_lines(segments: Sequence[Segment]) -> list[str]:
    """Return a line for each range; bytes count from the first without acknowledgement."""
    return [
        f"{one['start_bytes']:>10,} - {one['end_bytes']:>10,}  {one['segments']:>6,} segments  "
        f"{one['state']}"
        for one in ranges(segments)
    ] or ["nothing is without acknowledgement"]
