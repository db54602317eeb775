"""traceroute (Debian's, by D. Butskoy): its command line, and the parser of its output."""

from __future__ import annotations

import re
from dataclasses import dataclass

from farpath.base.errors import LabFailedError

#: Probes of each hop, one after another.
PROBES = 3
#: What stands for a hop that answered no probe.
NO_ANSWER = "*"
_LINE = re.compile(r"\s*(\d+)  (.*)")
_ANSWERED = re.compile(r"(\S+) \(([0-9a-f.:]+)\)")
_RTT = re.compile(r"([\d.]+) ms(?: (![\w<>-]+))?")


def arguments(target: str, ip_version: int, wait_s: float, most_hops: int) -> list[str]:
    """Return a command that probes hops in turn, with UDP and 1, 2, ... as TTL or hop limit.

    ``wait_s``: the time after which a probe is lost. ``most_hops``: the last TTL.
    """
    return [
        *("traceroute", f"-{ip_version}", "-N", "1", "-q", str(PROBES)),
        *("-w", f"{wait_s:g}", "-m", str(most_hops), target),
    ]


@dataclass(frozen=True)
class Hop:
    """A line of traceroute: all names and addresses that answered, and the answers' RTTs in ms.

    ``notes``: what the answers say beside that the TTL ended, as ``!H`` for no route to the host.
    """

    number: int
    names: tuple[str, ...]
    addresses: tuple[str, ...]
    rtts_ms: tuple[float, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([*self.names, *self.notes]) or NO_ANSWER


def parse(text: str) -> tuple[Hop, ...]:
    """Parse the output of traceroute.

    Raises LabFailedError if it has no line of a hop.
    """
    hops = []
    for line in text.splitlines():
        if match := _LINE.fullmatch(line):
            answered = _ANSWERED.findall(match[2])
            probes = _RTT.findall(match[2])
            hops.append(
                Hop(
                    int(match[1]),
                    tuple(name for name, _ in answered),
                    tuple(address for _, address in answered),
                    tuple(float(rtt_ms) for rtt_ms, _ in probes),
                    tuple(dict.fromkeys(note for _, note in probes if note)),
                )
            )
    if not hops:
        raise LabFailedError("traceroute ended before it printed a hop", text[-500:])
    return tuple(hops)
