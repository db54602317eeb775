"""QUIC packets of a capture, by packets made byte by byte as RFC 9000 and RFC 9369 show them."""

from __future__ import annotations

import struct
from pathlib import Path as FilePath

import pytest

from farpath.tools import pcapng
from farpath.uses.interop.quic_packets import (
    EARLY,
    HANDSHAKE,
    INITIAL,
    NEGOTIATION,
    RETRY,
    SHORT,
    read_quic,
)
from farpath.uses.interop.testcases import QUIC_1, QUIC_2

CLIENT, SERVER = b"client-name", b"srv"
TYPES = {
    QUIC_1: {INITIAL: 0, EARLY: 1, HANDSHAKE: 2, RETRY: 3},
    QUIC_2: {RETRY: 0, INITIAL: 1, EARLY: 2, HANDSHAKE: 3},
}


def long(
    kind: str, source: bytes, content: bytes, version: int = QUIC_1, token: bytes = b""
) -> bytes:
    """A packet with a long header, for an end whose name for the connection is ``CLIENT``."""
    first = 0xC0 | TYPES[version][kind] << 4
    names = bytes([len(CLIENT)]) + CLIENT + bytes([len(source)]) + source
    head = bytes([first]) + version.to_bytes(4) + names
    if kind == RETRY:
        return head + token + bytes(16)
    if kind == INITIAL:
        head += bytes([len(token)]) + token
    return head + struct.pack(">H", 0x4000 | len(content)) + content


def frame(datagram: bytes | bytearray, *, from_server: bool, six: bool = False) -> bytes:
    ports = (443, 50_000) if from_server else (50_000, 443)
    udp = struct.pack(">4H", *ports, 8 + len(datagram), 0) + datagram
    if six:
        network = struct.pack(">IHBB", 0x60000000, len(udp), 17, 64) + bytes(32)
        return bytes(12) + b"\x86\xdd" + network + udp
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 7, 0x4000, 64, 17, 0) + bytes(8)
    return bytes(12) + b"\x08\x00" + head + udp


def capture(file: FilePath, *frames: bytes, held_bytes: int = 2000) -> FilePath:
    blocks = [
        pcapng.packet(1_000 * number, one[:held_bytes], len(one))
        for number, one in enumerate(frames)
    ]
    file.write_bytes(pcapng.head("receiver-eth0", "receiver", held_bytes) + b"".join(blocks))
    return file


@pytest.mark.parametrize("six", [False, True])
def test_all_packets_of_a_datagram_are_read_and_zeros_that_fill_it_are_not(
    tmp_path: FilePath, six: bool
) -> None:
    client = long(INITIAL, CLIENT, bytes(50), token=b"ticket") + long(EARLY, CLIENT, bytes(30))
    server = long(INITIAL, SERVER, bytes(50)) + long(HANDSHAKE, SERVER, bytes(60)) + b"\x41" * 33
    file = capture(
        tmp_path / "a.pcapng",
        frame(client + bytes(400), from_server=False, six=six),
        frame(server, from_server=True, six=six),
    )
    found = [(one.from_server, one.kind, one.source, one.token) for one in read_quic(file)]
    assert found == [
        (False, INITIAL, CLIENT, b"ticket"),
        (False, EARLY, CLIENT, b""),
        (True, INITIAL, SERVER, b""),
        (True, HANDSHAKE, SERVER, b""),
        (True, SHORT, b"", b""),
    ]
    assert read_quic(file)[-1].size_bytes == 33


def test_a_packet_whose_fixed_bit_is_greased_is_one(tmp_path: FilePath) -> None:
    greased = bytearray(long(INITIAL, SERVER, bytes(50)) + b"\x01" * 30)
    greased[0] &= 0xBF
    (initial, short) = read_quic(capture(tmp_path / "a.pcapng", frame(greased, from_server=True)))
    assert (initial.kind, initial.source, short.kind) == (INITIAL, SERVER, SHORT)


def test_types_have_other_numbers_in_version_2(tmp_path: FilePath) -> None:
    file = capture(
        tmp_path / "a.pcapng",
        frame(long(RETRY, SERVER, b"", QUIC_2, token=b"token"), from_server=True),
        frame(long(INITIAL, CLIENT, bytes(9), QUIC_2, token=b"token"), from_server=False),
        frame(long(HANDSHAKE, CLIENT, bytes(9), QUIC_2), from_server=False),
    )
    found = [(one.kind, one.version, one.token) for one in read_quic(file)]
    assert found == [
        (RETRY, QUIC_2, b"token"),
        (INITIAL, QUIC_2, b"token"),
        (HANDSHAKE, QUIC_2, b""),
    ]


def test_a_capture_of_headers_has_the_first_packet_of_each_datagram(tmp_path: FilePath) -> None:
    both = long(INITIAL, SERVER, bytes(300)) + long(HANDSHAKE, SERVER, bytes(300))
    file = capture(tmp_path / "a.pcapng", frame(both, from_server=True), held_bytes=100)
    assert [one.kind for one in read_quic(file)] == [INITIAL]


def test_a_negotiation_of_versions_is_no_connection(tmp_path: FilePath) -> None:
    names = bytes([len(CLIENT)]) + CLIENT + bytes([len(SERVER)]) + SERVER
    offer = b"\xc0" + bytes(4) + names + QUIC_1.to_bytes(4)
    (packet,) = read_quic(capture(tmp_path / "a.pcapng", frame(offer, from_server=True)))
    assert packet.kind == NEGOTIATION


def test_what_is_not_of_the_server_s_port_is_left_out(tmp_path: FilePath) -> None:
    other = frame(long(INITIAL, CLIENT, bytes(9)), from_server=False)
    other = other[:36] + (53).to_bytes(2) + other[38:]
    assert read_quic(capture(tmp_path / "a.pcapng", other)) == []
