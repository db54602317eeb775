"""Era: what end hosts are, of 2004 or of today. Plain data, shared by host and guest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Era:
    """Settings of all end hosts that belong to a time and not to a path.

    ``sysctl``: of every end host. ``initial_window_packets``: a connection's first
    window; None is the kernel's own. ``card_rate_bps``: rate of a sender's network
    card and ``txqueuelen_packets``: how many packets wait before it; None for both is
    a host that is infinitely fast.
    """

    name: str
    sysctl: Mapping[str, str] = field(default_factory=dict)
    initial_window_packets: int | None = None
    card_rate_bps: int | None = None
    txqueuelen_packets: int | None = None


MODERN = Era("modern")
