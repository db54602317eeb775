"""QUIC packets of a capture: those parts of their headers that are not encrypted.

Long headers are those of RFC 9000 (17.2) and RFC 9369 (3.2), which has other numbers for the same
types. Frames and TLS messages stay unread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.captures.packets import read_packets
from farpath.uses.interop.testcases import QUIC_1, QUIC_2

PORT = 443
INITIAL, EARLY, HANDSHAKE, RETRY = "initial", "0-RTT", "handshake", "retry"
NEGOTIATION, SHORT = "version negotiation", "1-RTT"
#: Types of long headers by their number (RFC 9000, 17.2; RFC 9369, 3.2).
TYPES = {
    QUIC_1: (INITIAL, EARLY, HANDSHAKE, RETRY),
    QUIC_2: (RETRY, INITIAL, EARLY, HANDSHAKE),
}
#: Bytes of the tag at the end of a Retry packet (RFC 9001, 5.8).
RETRY_TAG_BYTES = 16
#: Bit of the first byte of a long header (RFC 9000, 17.2).
_LONG = 0x80
_ETHERNET_BYTES, _UDP_BYTES, _IPV6_BYTES, _UDP = 14, 8, 40, 17
_IPV4, _IPV6 = b"\x08\x00", b"\x86\xdd"


@dataclass(frozen=True)
class QuicPacket:
    """A packet: its time, its sender, and its header.

    ``kind``: one of the names above. ``version``: None of a short header. ``source``: the
    connection's name that its sender chose. ``token``: of an Initial or a Retry packet, as far as
    the capture holds it. ``size_bytes``: to the end of its datagram, if nothing else follows.
    """

    time_ns: int
    from_server: bool
    kind: str
    size_bytes: int
    version: int | None = None
    source: bytes = b""
    token: bytes = b""


def read_quic(file: FilePath) -> list[QuicPacket]:
    """Return the packets of a capture in its order, of each datagram all that it holds.

    The part of a datagram that was cut off is not read. Raises BadInputError for a file that is no
    capture or holds no packet at all.
    """
    packets = read_packets(file)
    data = packets.data.tobytes()
    found: list[QuicPacket] = []
    for start, held, length, time_ns in zip(
        packets.start, packets.held_bytes, packets.length_bytes, packets.time_ns, strict=True
    ):
        frame = data[start : start + held]
        if (at := _datagram(frame)) is None:
            continue
        ports = [int.from_bytes(frame[at + part : at + part + 2]) for part in (0, 2)]
        if PORT in ports:
            at += _UDP_BYTES
            missing = int(length) - len(frame)
            found += _in_datagram(frame[at:], missing, int(time_ns), ports[0] == PORT)
    return found


def _datagram(frame: bytes) -> int | None:
    """Return where the header of UDP begins in a frame of Ethernet; None for other packets."""
    kind, network = frame[12:14], _ETHERNET_BYTES
    if kind == _IPV4 and len(frame) > network + 9 and frame[network + 9] == _UDP:
        at = network + 4 * (frame[network] & 0x0F)
    elif kind == _IPV6 and len(frame) > network + 6 and frame[network + 6] == _UDP:
        at = network + _IPV6_BYTES
    else:
        return None
    return at if len(frame) > at + _UDP_BYTES else None


def _in_datagram(
    data: bytes, missing_bytes: int, time_ns: int, from_server: bool
) -> Iterator[QuicPacket]:
    """Yield the packets of a datagram; ``missing_bytes``: how many the capture has cut off."""
    at = 0
    while at < len(data):
        whole_bytes = len(data) + missing_bytes - at
        # Zeros fill a datagram. That the next bit is set does not tell a packet: ends may agree to
        # send it at random (RFC 9287)
        if not any(data[at:]):
            return
        if not data[at] & _LONG:
            yield QuicPacket(time_ns, from_server, SHORT, whole_bytes)
            return
        try:
            packet, end = _long(data, at, time_ns, from_server, whole_bytes)
        except IndexError:
            return
        yield packet
        if end is None:
            return
        at = end


def _long(
    data: bytes, start: int, time_ns: int, from_server: bool, whole_bytes: int
) -> tuple[QuicPacket, int | None]:
    """Return a packet with a long header, and where it ends; None if nothing can follow.

    Raises IndexError where the capture cuts it off.
    """
    version = int.from_bytes(data[start + 1 : start + 5])
    at = start + 5
    at += 1 + data[at]
    source_bytes = data[at]
    source = data[at + 1 : at + 1 + source_bytes]
    at += 1 + source_bytes
    if version == 0:
        packet = QuicPacket(time_ns, from_server, NEGOTIATION, whole_bytes, version, source)
        return packet, None
    kinds = TYPES.get(version, TYPES[QUIC_1])
    kind = kinds[data[start] >> 4 & 0b11]
    token = b""
    if kind == RETRY:
        token = data[at : start + whole_bytes - RETRY_TAG_BYTES]
        packet = QuicPacket(time_ns, from_server, kind, whole_bytes, version, source, token)
        return packet, None
    if kind == INITIAL:
        token_bytes, at = _integer(data, at)
        token = data[at : at + token_bytes]
        at += token_bytes
    rest_bytes, at = _integer(data, at)
    end = at + rest_bytes
    packet = QuicPacket(time_ns, from_server, kind, end - start, version, source, token)
    return packet, end


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """Return an integer of variable length and where it ends (RFC 9000, 16)."""
    size = 1 << (data[at] >> 6)
    value = data[at] & 0x3F
    for byte in range(at + 1, at + size):
        value = value << 8 | data[byte]
    return value, at + size
