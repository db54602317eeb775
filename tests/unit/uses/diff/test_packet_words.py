"""Packets in words."""

from __future__ import annotations

from pathlib import Path as FilePath

from farpath.captures.segments import ACK, CWR, ECE, PSH
from farpath.uses.diff.packet_words import differing, seen
from tests.support.packet_files import Sent, handshake, sack
from tests.support.two_captures import Frame, ethernet, place_of

UDP = bytes.fromhex("4500001e00000000401100000a0000020a0000010001000a000a0000")
ICMP = bytes.fromhex("4500001c00000000400100000a0000030a0000010800000000000001")
OVER_6 = bytes.fromhex("6000000000081140" + "fd" + "00" * 14 + "02" + "fd" + "00" * 14 + "01")


def test_each_kind_of_packet_says_what_it_is(tmp_path: FilePath) -> None:
    frames: list[Frame] = [
        *handshake(),
        Sent(12_000_000_256, True, 1, 1, 1448, ACK | PSH | CWR, 8),
        Sent(12_000_000_512, False, 1, 1, 0, ACK | ECE, 9, sack(2001, 3001)),
        (13, ethernet(True) + UDP + b"ab"),
        (14, ethernet(True) + ICMP),
        (15, ethernet(True, 0x86DD) + OVER_6 + bytes.fromhex("0001000a00080000")),
        (16, ethernet(True, 0x0806) + bytes(28)),
        (17, ethernet(True, 0x88CC) + bytes(28)),
    ]
    captured = place_of(tmp_path, "sender", frames, frames).a
    packets = [seen(captured, index, {5201: "flow1"}) for index in range(len(frames))]
    assert packets[3].time_s == "12.000000256"
    assert [packet.words for packet in packets[3:]] == [
        "10.0.0.2:40000 > 10.0.0.1:5201 PSH+ACK+CWR seq 1:1449 (1448 bytes) ack 1 win 1024",
        "10.0.0.1:5201 > 10.0.0.2:40000 ACK+ECE seq 1 ack 1 win 1152 sack 2001:3001",
        "UDP 10.0.0.2:1 > 10.0.0.1:10 44 bytes",
        "ICMP 10.0.0.3 > 10.0.0.1 type 8 42 bytes",
        "UDP [fd00::2]:1 > [fd00::1]:10 62 bytes",
        "ARP 02:00:00:00:00:02 > 02:00:00:00:00:01 42 bytes",
        "EtherType 0x88cc 02:00:00:00:00:02 > 02:00:00:00:00:01 42 bytes",
    ]
    assert packets[3].fields["flow"] == "flow1"
    assert differing(packets[5].fields, packets[5].fields) == []
    assert differing(packets[3].fields, {**packets[3].fields, "seq": 2, "bytes": ""}) == ["seq"]
