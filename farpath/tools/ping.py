"""ping (iputils): command line and parser."""

from __future__ import annotations

import re
from dataclasses import dataclass

from farpath.base.errors import LabFailedError

_REPLY = re.compile(r"\[(\d+\.\d+)\] \d+ bytes from .*icmp_seq=(\d+) .*time=([\d.]+) ms")
_SENT = re.compile(r"^(\d+) packets transmitted", re.MULTILINE)


def arguments(target: str, interval_s: float, count: int) -> list[str]:
    """Pings with their time and three decimals of a millisecond (-3)."""
    return ["ping", "-n", "-D", "-3", "-i", f"{interval_s:g}", "-c", str(count), target]


@dataclass(frozen=True)
class Reply:
    """One answered ping: when the answer came (Unix time), which, and its RTT."""

    timestamp_s: float
    seq: int
    rtt_ms: float


@dataclass(frozen=True)
class Pings:
    """All pings of one run of ping, numbered from 1: answers, and which had none."""

    sent: int
    replies: tuple[Reply, ...]
    lost: tuple[int, ...]


def parse(text: str) -> Pings:
    """What ``ping -D`` printed; duplicates of an answer do not count.

    Raises :class:`LabFailedError` if ping did not come to its statistics.
    """
    sent = _SENT.search(text)
    if not sent:
        raise LabFailedError("ping did not come to its end", text[-500:])
    replies: dict[int, Reply] = {}
    for line in text.splitlines():
        found = _REPLY.match(line)
        if found:
            seq = int(found[2])
            replies.setdefault(seq, Reply(float(found[1]), seq, float(found[3])))
    numbers = range(1, int(sent[1]) + 1)
    return Pings(
        sent=len(numbers),
        replies=tuple(replies[seq] for seq in sorted(replies)),
        lost=tuple(seq for seq in numbers if seq not in replies),
    )
