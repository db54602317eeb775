"""tcp_ecn: what a struct tcp_info says of a connection's ECN.

Source: struct tcp_info in include/uapi/linux/tcp.h. The members that are read here follow those of
``farpath.tools.tcp_info`` and are there since Linux 7.0.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from farpath.spec.ecn import BY_TCP_INFO
from farpath.tools import tcp_info

#: rcv_wnd, rehash, total_rto, total_rto_recoveries, total_rto_time; then received_ce, six counters
#: of bytes, and bit fields of which ecn_mode is the first.
_LAYOUT = struct.Struct("<16xI24xI")
_MODE_MASK = 0b11


@dataclass(frozen=True)
class ConnectionEcn:
    """ECN of a connection at the receiver of its data.

    ``mode``: of ``farpath.spec.ecn``. ``packets``: segments with data that came. ``marked``: those
    with the codepoint CE, which a queue has marked.
    """

    mode: str
    packets: int
    marked: int


def parse(info: bytes) -> ConnectionEcn:
    """Parse a struct tcp_info; raises ValueError if it is too short."""
    if len(info) < tcp_info.LAYOUT.size + _LAYOUT.size:
        raise ValueError(f"struct tcp_info has {len(info)} bytes here: the kernel is too old")
    names = [name for name, _ in tcp_info.FIELDS]
    values = dict(zip(names, tcp_info.LAYOUT.unpack_from(info), strict=True))
    received_ce, bits = _LAYOUT.unpack_from(info, tcp_info.LAYOUT.size)
    return ConnectionEcn(BY_TCP_INFO[bits & _MODE_MASK], values["data_segs_in"], received_ce)
