"""ECN of a connection in the kernel's struct tcp_info."""

from __future__ import annotations

import struct

import pytest

from farpath.tools import tcp_ecn, tcp_info


def test_mode_and_marks_follow_the_members_that_a_trace_has() -> None:
    values = dict.fromkeys((name for name, _ in tcp_info.FIELDS), 0) | {"data_segs_in": 900}
    info = tcp_info.LAYOUT.pack(*values.values())
    # rcv_wnd, rehash, three of timeouts; received_ce; six counters; AccECN and its option seen
    info += struct.pack("<IIHHI", 1, 2, 3, 4, 5) + struct.pack("<I", 17)
    info += struct.pack("<6I", *range(6)) + struct.pack("<I", 0b0110)
    # The counters: delivered with ECT(1), ECT(0) and CE, then received with each
    assert tcp_ecn.parse(info) == tcp_ecn.ConnectionEcn(
        "accecn", packets=900, marked=17, ect_1_bytes=3
    )
    with pytest.raises(ValueError, match="too old"):
        tcp_ecn.parse(info[: tcp_info.LAYOUT.size])
