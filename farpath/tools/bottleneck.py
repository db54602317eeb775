"""bottleneck: options and statistics of the qdisc of images/kernel/devices/bottleneck.c."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from farpath.tools.netlink import attribute
from farpath.tools.rtnetlink import ShownQdisc

#: The attribute of each option, and its size in bytes (enum in bottleneck.c).
ATTRIBUTES = {"rate_bps": (1, 8), "limit_bytes": (2, 4)}
#: struct bottleneck_stats: rate in bit/s and limit in bytes.
STATISTICS = struct.Struct("=QQ")


def options(values: Mapping[str, int]) -> bytes:
    """Return options by name as attributes."""
    return b"".join(
        attribute(number, values[name].to_bytes(size, "little"))
        for name, (number, size) in ATTRIBUTES.items()
        if name in values
    )


def describe(shown: ShownQdisc) -> dict[str, Any]:
    """Return a bottleneck as ``tc -s -j qdisc show`` prints other qdiscs."""
    rate_bps, limit_bytes = STATISTICS.unpack(shown.statistics)
    return {**shown.common, "options": {"rate_bps": rate_bps, "limit_bytes": limit_bytes}}
