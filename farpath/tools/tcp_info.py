"""tcp_info: the layout of Linux's struct tcp_info, and a file format for its values over time.

Source: struct tcp_info in include/uapi/linux/tcp.h, filled by tcp_get_info in net/ipv4/tcp.c.
The kernel only appends members to it; Linux has those that are read here since 5.4.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

#: Members in order, with their type codes for the struct module. Bit fields in C are bytes here.
FIELDS = (
    *((name, "B") for name in (
        "state", "ca_state", "retransmits", "probes", "backoff", "options", "wscale", "flags",
    )),
    *((name, "I") for name in (
        "rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets",
        "last_data_sent", "last_ack_sent", "last_data_recv", "last_ack_recv", "pmtu",
        "rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh", "snd_cwnd", "advmss", "reordering",
        "rcv_rtt", "rcv_space", "total_retrans",
    )),
    *((name, "Q") for name in (
        "pacing_rate", "max_pacing_rate", "bytes_acked", "bytes_received",
    )),
    *((name, "I") for name in (
        "segs_out", "segs_in", "notsent_bytes", "min_rtt", "data_segs_in", "data_segs_out",
    )),
    *((name, "Q") for name in ("delivery_rate", "busy_time", "rwnd_limited", "sndbuf_limited")),
    *((name, "I") for name in ("delivered", "delivered_ce")),
    *((name, "Q") for name in ("bytes_sent", "bytes_retrans")),
    *((name, "I") for name in ("dsack_dups", "reord_seen", "rcv_ooopack", "snd_wnd")),
)  # fmt: skip
LAYOUT = struct.Struct("<" + "".join(code for _, code in FIELDS))
_BYTES = struct.Struct("<Q")


def _offset(field_name: str) -> int:
    before = FIELDS[: [name for name, _ in FIELDS].index(field_name)]
    return struct.calcsize("<" + "".join(code for _, code in before))


_ACKED_AT, _RECEIVED_AT = _offset("bytes_acked"), _offset("bytes_received")
#: Head of each row: tick, remote port, state of enum tcp_state, socket cookie.
ROW = struct.Struct("<IHBxQ")
#: Values that mean "none": TCP_INFINITE_SSTHRESH, sk_pacing_rate of a socket without pacing,
#: and the least RTT before the first measurement (include/net/tcp.h, net/core/sock.c).
INFINITE_SSTHRESH = 0x7FFFFFFF
NO_RATE = (1 << 64) - 1
NO_RTT = (1 << 32) - 1
#: Bytes of rows that are compressed together, so that neither writer nor reader needs memory
#: for all rows at once.
BLOCK_BYTES = 1 << 20
#: Head of a block: its compressed length in bytes.
BLOCK = struct.Struct("<I")
#: zlib's fastest level; it suffices, since rows hardly differ from their predecessors.
LEVEL = 1


def members(info: bytes) -> dict[str, int]:
    """Return the members of a struct tcp_info by name; struct.error if it is too short."""
    names = [name for name, _ in FIELDS]
    return dict(zip(names, LAYOUT.unpack_from(info), strict=True))


def bytes_acked(info: bytes) -> int:
    """Return the number of acknowledged bytes in a struct tcp_info."""
    acked: int = _BYTES.unpack_from(info, _ACKED_AT)[0]
    return acked


def bytes_received(info: bytes) -> int:
    """Return the number of received bytes in a struct tcp_info."""
    received: int = _BYTES.unpack_from(info, _RECEIVED_AT)[0]
    return received


@dataclass
class Rows:
    """Rows of connection states, collected in memory and compressed in blocks."""

    blocks: list[bytes] = field(default_factory=list)
    open: bytearray = field(default_factory=bytearray)

    def add(self, tick: int, port: int, state: int, cookie: int, info: bytes) -> None:
        """Add a connection's state at a tick; raises ValueError if ``info`` is too short."""
        if len(info) < LAYOUT.size:
            raise ValueError(f"struct tcp_info has {len(info)} bytes here, not {LAYOUT.size}")
        self.open += ROW.pack(tick, port, state, cookie)
        self.open += info[: LAYOUT.size]
        if len(self.open) >= BLOCK_BYTES:
            self._close()

    def _close(self) -> None:
        block = zlib.compress(self.open, LEVEL)
        self.blocks += (BLOCK.pack(len(block)), block)
        self.open.clear()

    def parts(self, **header: Any) -> Iterator[bytes]:
        """Yield a file's contents: a header line of JSON, then the blocks, which are freed."""
        self._close()
        yield json.dumps(header).encode() + b"\n"
        blocks, self.blocks = self.blocks[::-1], []
        while blocks:
            yield blocks.pop()
