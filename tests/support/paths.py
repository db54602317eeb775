"""The tests' own paths: RTTs and hosts of the named ones, rates and buffers that stay.

The named paths are models found from published tables, with other people's traffic.
What a law predicts is seen where nothing else is.
"""

from __future__ import annotations

import dataclasses

from farpath.planning.path_files import path_by_name

SHORT = dataclasses.replace(
    path_by_name("caltech"),
    rate_bps=800_000_000,
    buffer_bytes=1_360_000,
    loss=2e-6,
    background=None,
)
MEDIUM = dataclasses.replace(
    path_by_name("ufl"), rate_bps=500_000_000, buffer_bytes=5_000_000, loss=2e-6, background=None
)
LONG = dataclasses.replace(
    path_by_name("cern"), rate_bps=450_000_000, buffer_bytes=10_500_000, loss=2e-6, background=None
)
#: 100 ms and a window of 1000 packets.
THOUSAND_PACKETS = dataclasses.replace(
    MEDIUM, rtt_ms=100, rate_bps=121_120_000, window_bytes=1_448_000
)
