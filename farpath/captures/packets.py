"""Packets of a capture's file: pcap or pcapng, as it is, in gzip or in Zstandard.

Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng. A file's bytes stay as they are; what is
kept of a packet is where it begins, so that headers are read for all packets at once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import cast

import numpy as np
import numpy.typing as npt

from farpath.base.errors import BadInputError

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
#: Magic numbers of pcap as a little-endian file has them, and ns in a unit of their times.
_PCAP = {0xA1B2C3D4: 1_000, 0xA1B23C4D: 1}
_PCAP_HEAD_BYTES = 24
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_BYTE_ORDER = 0x1A2B3C4D
_RESOLUTION, _OFFSET = 9, 14
#: Longest block that is one: anything longer is no pcapng.
_MOST_BLOCK_BYTES = 1 << 30
_SECOND_NS = 10**9


@dataclass(frozen=True)
class Packets:
    """The packets of a file in its order; each array has one value for each packet.

    ``data``: the file's bytes. ``start``: index of a packet's first byte in it. ``held_bytes``:
    how many of its bytes follow. ``length_bytes``: how many it had on its link. ``link``: type of
    its link (LINKTYPE_ of pcap). ``time_ns``: as the file says. ``warnings``: what the file lacks.
    """

    data: Bytes
    start: Ints
    held_bytes: Ints
    length_bytes: Ints
    link: Ints
    time_ns: Ints
    warnings: tuple[str, ...] = ()


def read_packets(file: FilePath, most_bytes: int | None = None) -> Packets:
    """Read a file of packets.

    ``most_bytes``: of the unpacked file, from its beginning on; None for all of them. Raises
    BadInputError for a file that cannot be read, is no capture, or holds no whole packet. A file
    that was cut short has the packets before its cut, and a warning.
    """
    content = _content(file)[:most_bytes]
    magic = content[:4]
    if len(content) < 4:
        raise _refused(file, "the file is empty" if not content else "the file is no capture")
    walk: Iterator[tuple[int, int, int, int, int]]
    if int.from_bytes(magic, "little") == _SECTION:
        walk = _pcapng(content)
    elif (order := _pcap_order(magic)) is not None:
        walk = _pcap(content, order)
    else:
        raise _refused(file, "the file is no capture: it begins with neither pcap nor pcapng")
    found: list[tuple[int, int, int, int, int]] = []
    warnings: tuple[str, ...] = ()
    try:
        found.extend(walk)
    except _CutError as cut:
        if most_bytes is None:
            warnings = (f"{file}: {cut}; it has {len(found):,} packets before that",)
    if not found:
        problem = warnings[0].partition(": ")[2] if warnings else "there is no packet in it"
        raise _refused(file, problem)
    columns = np.array(found, dtype=np.int64).T
    start, held, length, link, time_ns = (np.ascontiguousarray(column) for column in columns)
    return Packets(
        np.frombuffer(content, dtype=np.uint8), start, held, length, link, time_ns, warnings
    )


class _CutError(Exception):
    """A file ends, or makes no sense, behind the packets that were read."""


def _refused(file: FilePath, problem: str) -> BadInputError:
    return BadInputError(
        file=str(file), problem=problem, remedy="give a file of pcap or pcapng that holds packets"
    )


def _content(file: FilePath) -> bytes:
    """Return a file's bytes, unpacked."""
    import gzip
    import zlib

    try:
        content = file.read_bytes()
        if content.startswith(GZIP):
            return gzip.decompress(content)
        if content.startswith(ZSTD):
            import pyarrow as pa

            with pa.input_stream(pa.BufferReader(content), compression="zstd") as stream:
                return cast(bytes, stream.read())
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInputError(
            file=str(file), problem=f"it cannot be read: {reason}", remedy="give another file"
        ) from error
    return content


def _pcap_order(magic: bytes) -> str | None:
    if int.from_bytes(magic, "little") in _PCAP:
        return "<"
    return ">" if int.from_bytes(magic, "big") in _PCAP else None


def _pcap(content: bytes, order: str) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield start, held bytes, length, link and time of each packet of a file of pcap."""
    if len(content) < _PCAP_HEAD_BYTES:
        raise _CutError("the file ends within its first header")
    (magic,) = struct.unpack_from(order + "I", content)
    (link,) = struct.unpack_from(order + "I", content, 20)
    link &= 0x0FFF_FFFF  # above it are the bytes of a frame check sequence
    unit_ns, head = _PCAP[magic], struct.Struct(order + "IIII")
    position, end = _PCAP_HEAD_BYTES, len(content)
    while position < end:
        if position + 16 > end:
            raise _CutError("the file was cut short")
        seconds, part, held, length = head.unpack_from(content, position)
        position += 16
        if position + held > end:
            raise _CutError("the file was cut short")
        yield position, held, length, link, seconds * _SECOND_NS + part * unit_ns
        position += held


def _pcapng(content: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield start, held bytes, length, link and time of each packet of a file of pcapng."""
    order, interfaces = "<", list[_Interface]()
    head, enhanced = struct.Struct("<II"), struct.Struct("<IIIII")
    position, end = 0, len(content)
    while position < end:
        if position + 12 > end:
            raise _CutError("the file was cut short")
        kind, length = head.unpack_from(content, position)
        if kind == _SECTION:
            is_little = content[position + 8 : position + 12] == _BYTE_ORDER.to_bytes(4, "little")
            order, interfaces = "<" if is_little else ">", []
            head, enhanced = struct.Struct(order + "II"), struct.Struct(order + "IIIII")
            kind, length = head.unpack_from(content, position)
        if length < 12 or length % 4 or length > _MOST_BLOCK_BYTES:
            raise _CutError("the file makes no sense from a block of unknown length on")
        if position + length > end:
            raise _CutError("the file was cut short")
        body = position + 8
        if kind == _INTERFACE:
            interfaces.append(_interface(content[body : position + length - 4], order))
        elif kind in (_PACKET, _OLD_PACKET):
            number, high, low, held, whole = enhanced.unpack_from(content, body)
            if kind == _OLD_PACKET:  # a count of drops follows the number in its field
                (number,) = struct.unpack_from(order + "H", content, body)
            if number >= len(interfaces) or body + 20 + held > position + length:
                raise _CutError("the file makes no sense from a packet of no interface on")
            interface = interfaces[number]
            yield body + 20, held, whole, interface.link, interface.time_ns(high << 32 | low)
        elif kind == _SIMPLE:
            raise _CutError("the file has packets without times")
        position += length


@dataclass(frozen=True)
class _Interface:
    """An interface of pcapng: its link, units of its times in a second, and their zero in s."""

    link: int
    units: int = 10**6
    offset_s: int = 0

    def time_ns(self, units: int) -> int:
        return units * _SECOND_NS // self.units + self.offset_s * _SECOND_NS


def _interface(body: bytes, order: str) -> _Interface:
    (link,) = struct.unpack_from(order + "H", body)
    units, offset_s, position = 10**6, 0, 8
    while position + 4 <= len(body):
        code, length = struct.unpack_from(order + "HH", body, position)
        position += 4
        if code == _RESOLUTION and length == 1:
            value = body[position]
            units = 2 ** (value & 0x7F) if value & 0x80 else 10**value
        elif code == _OFFSET and length == 8:
            (offset_s,) = struct.unpack_from(order + "q", body, position)
        position += length + (-length % 4)
    return _Interface(link, units, offset_s)
