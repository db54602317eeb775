"""Era: end-host settings of a time, 2004 or today, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from farpath.spec.bus import Bus
from farpath.spec.processor import Processor


@dataclass(frozen=True)
class Era:
    """Settings of all end hosts that depend on the time and not on the path.

    ``sysctl``: kernel settings of every end host. ``initial_window_packets``: initial window of
    a connection; None for the kernel's default. ``card_rate_bps``: rate of a sender's NIC.
    ``bus``: between its memory and the NIC; None for one that is never slower.
    ``txqueuelen_packets``: length of the NIC's queue. With None for both, a sender is
    infinitely fast. ``ring_packets``: what the NIC itself holds beyond that queue.
    ``processor``: of the sending hosts; None for one that takes no time. ``recovery``: the
    version of Linux whose loss recovery farpath's own stacks have; empty for that of the lab's
    kernel. ``jitter_ms``: the most by which a sending host delays a packet at random, without
    changing the packets' order.
    """

    name: str
    sysctl: Mapping[str, str] = field(default_factory=dict)
    initial_window_packets: int | None = None
    card_rate_bps: int | None = None
    bus: Bus | None = None
    txqueuelen_packets: int | None = None
    ring_packets: int = 0
    processor: Processor | None = None
    recovery: str = ""
    jitter_ms: float = 0.0

    def sender_rate_bps(self, frame_bytes: int) -> int | None:
        """Return the rate at which a sender sends frames of a size; None for any rate."""
        if self.card_rate_bps is None or self.bus is None:
            return self.card_rate_bps
        return min(self.card_rate_bps, self.bus.rate_bps(frame_bytes))


MODERN = Era("modern")
