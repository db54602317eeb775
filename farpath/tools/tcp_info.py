"""tcp_info: the state of a TCP connection as Linux tells it, and rows of it over time.

Source: struct tcp_info in include/uapi/linux/tcp.h, filled by tcp_get_info in net/ipv4/tcp.c.
It only ever grows at its end; what is read here it has since Linux 5.4.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pass

#: Fields in order with their types as numpy and the struct module both write them. Those
#: that are bit fields in C are bytes here.
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
LAYOUT = struct.Struct("<" + "".join(kind for _, kind in FIELDS))
_ACKED = struct.Struct("<Q")
_ACKED_AT = struct.calcsize(
    "<" + "".join(kind for _, kind in FIELDS[: [name for name, _ in FIELDS].index("bytes_acked")])
)
#: What stands before each: its tick, the far port, the state of enum tcp_state, the socket.
ROW = struct.Struct("<IHBxQ")
#: Numbers that mean "none" (TCP_INFINITE_SSTHRESH, sk_pacing_rate of an unpaced socket, a
#: minimum of no RTT yet): include/net/tcp.h, net/core/sock.c.
INFINITE_SSTHRESH = 0x7FFFFFFF
NO_RATE = (1 << 64) - 1
NO_RTT = (1 << 32) - 1
#: So many bytes of rows are compressed together: none, on either side, has all of them at once.
BLOCK_BYTES = 1 << 20
BLOCK = struct.Struct("<I")
#: The fastest of zlib: rows hardly differ from those before.
LEVEL = 1


def bytes_acked(info: bytes) -> int:
    """How many bytes of a connection's are acknowledged."""
    acked: int = _ACKED.unpack_from(info, _ACKED_AT)[0]
    return acked


@dataclass
class Rows:
    """Rows gathered in memory, compressed by blocks."""

    blocks: list[bytes] = field(default_factory=list)
    open: bytearray = field(default_factory=bytearray)

    def add(self, tick: int, port: int, state: int, cookie: int, info: bytes) -> None:
        """One connection's state at a tick; ValueError for a kernel that tells too little."""
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

    def parts(self, **about: Any) -> Iterator[bytes]:
        """A file's contents, piece by piece: a line of JSON and the blocks, which go."""
        self._close()
        yield json.dumps(about).encode() + b"\n"
        blocks, self.blocks = self.blocks[::-1], []
        while blocks:
            yield blocks.pop()
