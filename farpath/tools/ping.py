"""ping (iputils): its command line, and the parser of its output."""

from __future__ import annotations

import re
from dataclasses import dataclass

from farpath.base.errors import LabFailedError

_REPLY = re.compile(r"\[(\d+\.\d+)\] \d+ bytes from .*icmp_seq=(\d+) .*time=([\d.]+) ms")
#: Exit status of a ping that got no answer.
NO_ANSWER = 1
_SENT = re.compile(r"^(\d+) packets transmitted", re.MULTILINE)


def arguments(
    target: str, interval_s: float, count: int, answer_s: float | None = None
) -> list[str]:
    """Return a command that prints timestamps (-D) and RTTs with three decimals in ms (-3).

    ``answer_s``: how long ping waits behind the last one where none was answered; 10 s unless it
    is given.
    """
    wait = [] if answer_s is None else ["-W", f"{answer_s:g}"]
    return ["ping", "-n", "-D", "-3", "-i", f"{interval_s:g}", "-c", str(count), *wait, target]


@dataclass(frozen=True)
class Reply:
    """One answered ping: the Unix time of the answer, the ping's number from 1, and its RTT."""

    timestamp_s: float
    seq: int
    rtt_ms: float


@dataclass(frozen=True)
class Pings:
    """All pings of one run of ping: their number, the replies, and the numbers of those lost."""

    sent: int
    replies: tuple[Reply, ...]
    lost: tuple[int, ...]


def parse(text: str) -> Pings:
    """Parse the output of ``ping -D``; duplicate replies are left out.

    Raises LabFailedError if ping ended before it printed its statistics.
    """
    sent = _SENT.search(text)
    if not sent:
        raise LabFailedError("ping ended before it printed its statistics", text[-500:])
    replies: dict[int, Reply] = {}
    for line in text.splitlines():
        match = _REPLY.match(line)
        if match:
            seq = int(match[2])
            replies.setdefault(seq, Reply(float(match[1]), seq, float(match[3])))
    numbers = range(1, int(sent[1]) + 1)
    return Pings(
        sent=len(numbers),
        replies=tuple(replies[seq] for seq in sorted(replies)),
        lost=tuple(seq for seq in numbers if seq not in replies),
    )
