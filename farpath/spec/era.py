"""Era: end-host settings of a time, 2004 or today, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Era:
    """Settings of all end hosts that depend on the time and not on the path.

    ``sysctl``: kernel settings of every end host. ``initial_window_packets``: initial window of
    a connection; None for the kernel's default. ``card_rate_bps``: rate of a sender's NIC.
    ``txqueuelen_packets``: length of the NIC's queue. With None for both, a sender is infinitely
    fast.
    """

    name: str
    sysctl: Mapping[str, str] = field(default_factory=dict)
    initial_window_packets: int | None = None
    card_rate_bps: int | None = None
    txqueuelen_packets: int | None = None


MODERN = Era("modern")
