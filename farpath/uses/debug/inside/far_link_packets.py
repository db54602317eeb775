"""Packets that have lately entered the far links of a run, from the memory that its sites share."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath

#: struct far_window and struct far_record (images/kernel/devices/shared.h).
_WINDOW, _RECORD = struct.Struct("<QQ"), struct.Struct("<QIIIHH")
#: A record's structure with its padding, and to what its bytes are rounded up.
_RECORD_BYTES, _ROUNDED = 24, 8
_ETHERNET_BYTES, _IPV4, _IPV6 = 14, 0x0800, 0x86DD
_TCP, _UDP = 6, 17
_PROTOCOLS = {1: "ICMP", _TCP: "TCP", _UDP: "UDP", 58: "ICMPv6"}
_FLAGS = (("S", 2), ("F", 1), ("R", 4), ("P", 8), (".", 16))
#: The two bits of ECN (RFC 3168), as tcpdump and Wireshark name them.
_ECN = ("", "ECT(1)", "ECT(0)", "CE")


@dataclass(frozen=True)
class Packet:
    """A packet that entered a far link: when by the sites' clocks, on which channel, its words."""

    at_ns: int
    channel: int
    size_bytes: int
    words: str


def decoded(at_ns: int, channel: int, size_bytes: int, frame: bytes) -> Packet:
    """Return a packet from the start of its Ethernet frame.

    >>> decoded(5, 0, 60, bytes(14)).words
    'Ethernet, type 0x0000'
    """
    kind = int.from_bytes(frame[12:14], "big")
    header = frame[_ETHERNET_BYTES:]
    if kind == _IPV4 and len(header) >= 20:
        length, protocol = 4 * (header[0] & 15), header[9]
        total, ecn = int.from_bytes(header[2:4], "big"), header[1] & 3
        carried_bytes = total - length
    elif kind == _IPV6 and len(header) >= 40:
        length, protocol = 40, header[6]
        carried_bytes = int.from_bytes(header[4:6], "big")
        ecn = header[1] >> 4 & 3
    else:
        return Packet(at_ns, channel, size_bytes, f"Ethernet, type 0x{kind:04x}")
    mark = f" {_ECN[ecn]}" if ecn else ""
    above = header[length:]
    if protocol not in (_TCP, _UDP) or len(above) < (20 if protocol == _TCP else 8):
        name = _PROTOCOLS.get(protocol, f"protocol {protocol}")
        return Packet(at_ns, channel, size_bytes, f"{name}{mark}")
    ports = int.from_bytes(above[:2], "big"), int.from_bytes(above[2:4], "big")
    way = f"{ports[0]} > {ports[1]}"
    if protocol == _UDP:
        return Packet(at_ns, channel, size_bytes, f"UDP {way}{mark}")
    payload_bytes = carried_bytes - 4 * (above[12] >> 4)
    sequence, acknowledged = struct.unpack(">II", above[4:12])
    flags = "".join(letter for letter, bit in _FLAGS if above[13] & bit)
    words = f"TCP {way} [{flags}] seq {sequence} ack {acknowledged} length {payload_bytes}{mark}"
    return Packet(at_ns, channel, size_bytes, words)


def _slot_packets(slot: memoryview, used_bytes: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield departure, size and start of each packet of a window's slot.

    ``used_bytes``: of its records.
    """
    position, end = _WINDOW.size, min(_WINDOW.size + used_bytes, len(slot))
    while position + _RECORD_BYTES <= end:
        departure_ns, size_bytes, copied_bytes, *_ = _RECORD.unpack_from(slot, position)
        position += _RECORD_BYTES
        yield departure_ns, size_bytes, bytes(slot[position : position + copied_bytes])
        position += -(-copied_bytes // _ROUNDED) * _ROUNDED


def packets_in(memory: memoryview, far: Mapping[str, int], now_ns: int) -> list[Packet]:
    """Return the packets that are still in the memory of far links, the earliest first.

    ``memory``: all of it. ``far``: ``start_bytes``, ``channels``, ``slots``, ``capacity_bytes``,
    ``window_ns`` and ``first_window_ns`` as its header has them, and ``clock_start_ns``, from which
    packets' stamps count. ``now_ns``: the sites' clock. A window that is open does not say yet how
    much was written: its packets are those with stamps of that window.
    """
    wall_ns = now_ns + far["clock_start_ns"]
    last = (wall_ns - far["first_window_ns"]) // far["window_ns"]
    found = []
    for channel in range(far["channels"]):
        for window in range(max(0, last - far["slots"] + 1), last + 1):
            begin = far["start_bytes"] + far["capacity_bytes"] * (
                channel * far["slots"] + window % far["slots"]
            )
            slot = memory[begin : begin + far["capacity_bytes"]]
            used_bytes, number = _WINDOW.unpack_from(slot)
            is_closed = number == window
            opened_ns = far["first_window_ns"] + window * far["window_ns"]
            for stamp_ns, size_bytes, frame in _slot_packets(
                slot, used_bytes if is_closed else len(slot)
            ):
                if not opened_ns <= stamp_ns <= wall_ns:
                    break
                found.append(decoded(stamp_ns - far["clock_start_ns"], channel, size_bytes, frame))
    return sorted(found, key=lambda packet: packet.at_ns)


def on_far_links(file: FilePath, far: Mapping[str, int], now_ns: int) -> list[Packet]:
    """Return the packets of ``packets_in`` from the file of the memory."""
    with (
        file.open("rb", 0) as opened,
        mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as mapped,
        memoryview(mapped) as memory,
    ):
        return packets_in(memory, far, now_ns)
