"""Corruption: datagrams of UDP that arrive with one byte inverted and a checksum that fits.

The simulator of the QUIC interop runner damages packets so, and QUIC finds out by the tag of its
encryption (RFC 9001, section 5.3). With a wrong checksum the kernel would drop a datagram before
any program sees it (RFC 1122, section 4.1.3.4), which is a loss. Datagrams are damaged as they
leave a host, and chosen as a dropper of the kind ``random`` chooses packets.
"""

from __future__ import annotations

from farpath.spec.dropper import LEAST_RANDOM_CHANCE, Dropper
from farpath.spec.dropping import drawn_packets
from farpath.spec.hosts import BACKGROUND
from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.seeds import stream_seed

#: The name of its data in ``Plan.extra`` and of its option; the fraction in them.
KEY, FRACTION = "corrupt", "fraction"
#: Smallest and largest fraction.
RANGE = (LEAST_RANDOM_CHANCE, 1.0)
#: The byte of a datagram's payload that is inverted: encrypted in packets of QUIC with a short
#: header, whose connection ID has at most 20 bytes (RFC 9000, section 17.3.1).
BYTE = 24


def corrupt_fraction(plan: Plan) -> float:
    """Return the fraction of the datagrams that are damaged in a plan; 0 for none."""
    return float(plan.extra.get(KEY, {}).get(FRACTION, 0.0))


def corrupting_ports(layout: Layout) -> dict[str, tuple[str, ...]]:
    """Return the ports of switches by which the datagrams of each host come in."""
    found: dict[str, tuple[str, ...]] = {}
    for link in layout.links:
        for host, port in ((link.one.node, link.other), (link.other.node, link.one)):
            if host in layout.hosts and host != BACKGROUND:
                found[host] = (*found.get(host, ()), port.name)
    return found


class Chooser:
    """Chooses the datagrams of one host that are damaged."""

    def __init__(self, plan: Plan, host: str) -> None:
        self._dropper = Dropper("random", (corrupt_fraction(plan),))
        self._seed = stream_seed(plan.seed, KEY, host)
        #: How many datagrams are drawn for.
        self.drawn = drawn_packets(self._dropper, plan)
        #: After how many datagrams the same ones are chosen again.
        self.cycle = self._dropper.cycle_packets

    @property
    def chosen(self) -> tuple[int, ...]:
        """The numbers, from 1, of the datagrams that are damaged in one cycle."""
        return self._dropper.positions(self._seed, self.drawn)

    def count(self, seen: int) -> int:
        """Return how many of the first datagrams are chosen."""
        count = self._dropper.expected(seen, self._seed)
        assert count is not None
        return count
