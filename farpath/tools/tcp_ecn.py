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
#: of bytes, the fourth of them received_e1_bytes, and bit fields of which ecn_mode is the first.
_LAYOUT = struct.Struct("<16xI12xI8xI")
_MODE_MASK = 0b11


@dataclass(frozen=True)
class ConnectionEcn:
    """ECN of a connection at the receiver of its data.

    ``mode``: of ``farpath.spec.ecn``. ``packets``: segments with data that came. ``marked``: those
    with the codepoint CE, which a queue has marked. ``ect_1_bytes``: data that came with ECT(1),
    which the kernel counts with accurate feedback alone.
    """

    mode: str
    packets: int
    marked: int
    ect_1_bytes: int


def parse(info: bytes) -> ConnectionEcn:
    """Parse a struct tcp_info; raises ValueError if it is too short."""
    if len(info) < tcp_info.LAYOUT.size + _LAYOUT.size:
        raise ValueError(f"struct tcp_info has {len(info)} bytes here: the kernel is too old")
    values = tcp_info.members(info)
    received_ce, ect_1_bytes, bits = _LAYOUT.unpack_from(info, tcp_info.LAYOUT.size)
    mode = BY_TCP_INFO[bits & _MODE_MASK]
    return ConnectionEcn(mode, values["data_segs_in"], received_ce, ect_1_bytes)
