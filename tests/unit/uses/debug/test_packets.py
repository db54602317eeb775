"""Packets on far links, read from memory as the guests' module writes it."""

from __future__ import annotations

import struct

from farpath.uses.debug.inside.far_link_packets import decoded, packets_in

START_NS, WINDOW_NS, CLOCK_NS = 10_000, 1_000, 9_000
FAR = {
    "start_bytes": 64,
    "channels": 1,
    "slots": 2,
    "capacity_bytes": 512,
    "window_ns": WINDOW_NS,
    "first_window_ns": START_NS,
    "clock_start_ns": CLOCK_NS,
}
#: An acknowledgement of IPv4 with the mark CE: from port 5201 to 40122.
ETHERNET = bytes(12) + b"\x08\x00"
IPV4 = struct.pack(">BBHHHBBH4s4s", 0x45, 3, 1040, 0, 0, 64, 6, 0, bytes(4), bytes(4))
TCP = struct.pack(">HHIIBBHHH", 5201, 40122, 7, 9, 0x50, 0x10, 0, 0, 0)
FRAME = ETHERNET + IPV4 + TCP


def record(departure_ns: int, size_bytes: int = 1054) -> bytes:
    packed = struct.pack("<QIIIHH", departure_ns, size_bytes, len(FRAME), 0, 0, 0) + FRAME
    return packed + bytes(-len(packed) % 8)


def slot(number: int, used_bytes: int, *records: bytes) -> bytes:
    return (struct.pack("<QQ", used_bytes, number) + b"".join(records)).ljust(512, b"\0")


def memory(*slots: bytes) -> memoryview:
    return memoryview(bytes(64) + b"".join(slots))


def test_a_packet_of_tcp_has_its_ports_flags_numbers_and_mark() -> None:
    words = decoded(5, 1, 1054, FRAME).words
    assert words == "TCP 5201 > 40122 [.] seq 7 ack 9 length 1000 CE"


def test_packets_of_closed_windows_stand_by_time_and_not_by_slot() -> None:
    one, two = record(START_NS + 2_100), record(START_NS + 1_200)
    found = packets_in(
        memory(slot(2, len(one), one), slot(1, len(two), two)),
        FAR,
        now_ns=START_NS - CLOCK_NS + 2_999,
    )
    assert [packet.at_ns for packet in found] == [
        START_NS - CLOCK_NS + 1_200,
        START_NS - CLOCK_NS + 2_100,
    ]


def test_of_an_open_window_only_what_was_written_in_it_counts() -> None:
    # The slot still says what its former window, 0, had: three packets, of which one is replaced
    records = record(START_NS + 2_100), record(START_NS + 200), record(START_NS + 300)
    length = sum(map(len, records))
    found = packets_in(
        memory(slot(0, length, *records), slot(1, 0)), FAR, now_ns=START_NS - CLOCK_NS + 2_500
    )
    assert [packet.at_ns for packet in found] == [START_NS - CLOCK_NS + 2_100]


def test_a_packet_of_another_site_that_is_ahead_is_not_shown() -> None:
    later = record(START_NS + 900)
    found = packets_in(
        memory(slot(0, len(later), later), slot(1, 0)), FAR, now_ns=START_NS - CLOCK_NS + 800
    )
    assert found == []
