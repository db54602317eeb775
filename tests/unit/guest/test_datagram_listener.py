"""The listener knows a flow's datagrams from other packets, and reads their numbers."""

from __future__ import annotations

import struct

import pytest

from farpath.programs.udp.guest.datagram_listener import Listening, number_of

UDP, TCP = 17, 6


def packet(version: int, port: int, number: int, protocol: int = UDP, payload: int = 16) -> bytes:
    """An IP packet with UDP's header and iperf3's: time in s and us, and the number."""
    if version == 4:
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 0, 0, 0, 64, protocol, 0, bytes(4), bytes(4))
    else:
        ip = struct.pack("!IHBB16s16s", 6 << 28, 0, protocol, 64, bytes(16), bytes(16))
    udp = struct.pack("!HHHH", 40_000, port, 8 + payload, 0)
    return ip + udp + struct.pack("!III", 12, 34, number).ljust(payload, b"\0")[:payload]


@pytest.mark.parametrize("version", [4, 6])
def test_a_datagrams_number_stands_behind_iperf3s_time(version: int) -> None:
    listening = Listening(5201, version, 1000.0)
    assert number_of(packet(version, 5201, 70_000), listening) == 70_000


@pytest.mark.parametrize(
    "other",
    [packet(4, 5202, 1), packet(4, 5201, 1, protocol=TCP), packet(4, 5201, 1, payload=4), b""],
    ids=["another port", "another protocol", "iperf3's greeting", "nothing"],
)
def test_other_packets_have_no_number(other: bytes) -> None:
    assert number_of(other, Listening(5201, 4, 1000.0)) is None
