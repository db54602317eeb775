"""pcapng: the blocks of a capture's file, written and counted.

The format is draft-ietf-opsawg-pcapng: a section header, one interface, enhanced packet blocks,
interface statistics at the end. Times have nanoseconds. All numbers are little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from farpath.base.errors import LabFailedError

SECTION_HEADER, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
BYTE_ORDER = 0x1A2B3C4D
LINK_ETHERNET = 1
#: Codes of options: of a section, of an interface, of its statistics, and the end of each list.
_USER_APPLICATION, _NAME, _DESCRIPTION, _RESOLUTION, _RECEIVED, _DROPPED, _END = 4, 2, 3, 9, 4, 5, 0
NANOSECONDS = 9
#: The section's length, which is not known when it is written.
_UNKNOWN = 0xFFFF_FFFF_FFFF_FFFF
_HEAD = struct.Struct("<II")
_PACKET_HEAD = struct.Struct("<IIIIIII")
_LENGTH = struct.Struct("<I")


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _options(options: Sequence[tuple[int, bytes]]) -> bytes:
    parts = [struct.pack("<HH", code, len(value)) + _padded(value) for code, value in options]
    return b"".join([*parts, struct.pack("<HH", _END, 0)])


def _block(kind: int, body: bytes) -> bytes:
    length = 12 + len(body)
    return _HEAD.pack(kind, length) + body + _LENGTH.pack(length)


def head(port: str, place: str, snap_bytes: int) -> bytes:
    """Return a file's first blocks, of a section with one interface of Ethernet."""
    section = struct.pack("<IHHQ", BYTE_ORDER, 1, 0, _UNKNOWN)
    section += _options([(_USER_APPLICATION, b"farpath")])
    interface = struct.pack("<HHI", LINK_ETHERNET, 0, snap_bytes)
    interface += _options(
        [
            (_NAME, port.encode()),
            (_DESCRIPTION, place.encode()),
            (_RESOLUTION, bytes([NANOSECONDS])),
        ]
    )
    return _block(SECTION_HEADER, section) + _block(INTERFACE, interface)


def packet(time_ns: int, data: bytes, length: int) -> bytes:
    """Return the block of a packet; ``length``: its whole length, of which ``data`` is a part."""
    padding = -len(data) % 4
    block_length = 32 + len(data) + padding
    header = _PACKET_HEAD.pack(
        PACKET, block_length, 0, time_ns >> 32, time_ns & 0xFFFF_FFFF, len(data), length
    )
    return header + data + bytes(padding) + _LENGTH.pack(block_length)


def statistics(time_ns: int, received: int, dropped: int) -> bytes:
    """Return the block of an interface's statistics at the end of a capture."""
    body = struct.pack("<III", 0, time_ns >> 32, time_ns & 0xFFFF_FFFF)
    counts = [(_RECEIVED, struct.pack("<Q", received)), (_DROPPED, struct.pack("<Q", dropped))]
    return _block(STATISTICS, body + _options(counts))


@dataclass(frozen=True)
class Counts:
    """What a file's statistics say: packets in it, and packets for which there was no room."""

    packets: int
    missed: int


#: Length of the block of statistics that ``statistics`` returns.
STATISTICS_BYTES = len(statistics(0, 0, 0))


def parse_end(end: bytes) -> Counts:
    """Parse the last ``STATISTICS_BYTES`` of a file.

    Raises LabFailedError if they are no block of statistics: the file was cut short.
    """
    if len(end) != STATISTICS_BYTES or _HEAD.unpack_from(end) != (STATISTICS, STATISTICS_BYTES):
        raise LabFailedError("the capture was cut short: it has no statistics at its end")
    (received,) = struct.unpack_from("<Q", end, 24)
    (dropped,) = struct.unpack_from("<Q", end, 36)
    return Counts(received - dropped, dropped)
