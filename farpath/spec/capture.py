"""Capture: the places of a run whose packets are written to files.

A place is an end host, or a bottleneck: ``bottleneck`` is the path's first, ``bottleneck2`` the
second. At a port, a capture has the packets that arrive and those that leave it, with the time at
which they do. A packet that a bottleneck dropped is in the capture of its sender only.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

BOTTLENECK = "bottleneck"
#: Bytes of each packet that a file holds: from IP and TCP headers without options to the largest
#: frame of Ethernet.
SNAP_BYTES_RANGE = (64, 9_018)
#: All headers of Ethernet, IPv6 and TCP with options fit in.
DEFAULT_SNAP_BYTES = 128
#: Most bytes of all files of a run. They are in the guest's memory until it ends.
MOST_CAPTURE_BYTES = 2_000_000_000
#: Time between two looks at the captured packets in ns: whole ticks of the guest's kernel, so that
#: it adds no event to a run.
INTERVAL_NS = 10_000_000
#: Suffix of a capture's file.
SUFFIX = ".pcapng"
#: Offset of a packet's Ethernet header in its slot at most (tpacket_rcv in net/packet/af_packet.c).
PACKET_OFFSET_BYTES = 80


@dataclass(frozen=True)
class Capture:
    """A place whose packets are captured, and how many bytes of each.

    >>> str(Capture("sender")), str(Capture("bottleneck", 64))
    ('sender', 'bottleneck:64')
    """

    place: str
    snap_bytes: int = DEFAULT_SNAP_BYTES

    def __str__(self) -> str:
        if self.snap_bytes == DEFAULT_SNAP_BYTES:
            return self.place
        return f"{self.place}:{self.snap_bytes}"

    @property
    def file(self) -> str:
        """Name of the capture's file."""
        return f"{self.place}{SUFFIX}"


def slot_bytes(snap_bytes: int) -> int:
    """Return the size of a slot of a ring: a power of two, so that pages hold whole slots.

    >>> slot_bytes(128), slot_bytes(9018)
    (256, 16384)
    """
    return 1 << (PACKET_OFFSET_BYTES + snap_bytes - 1).bit_length()


@dataclass(frozen=True)
class RingConfig:
    """Configuration of one capture of a capturer.

    ``descriptor``: of its socket. ``port``: interface. ``file``: output file, which gets at most
    ``most_bytes``. ``slots``: how many packets the ring holds.
    """

    descriptor: int
    port: str
    place: str
    file: str
    snap_bytes: int
    most_bytes: int
    slots: int


@dataclass(frozen=True)
class CapturerConfig:
    """Configuration of a capturer, the program that captures at all places of a site."""

    rings: tuple[RingConfig, ...]

    def to_json(self) -> bytes:
        """Return the configuration as one line of JSON, without a newline."""
        return json.dumps(dataclasses.asdict(self)).encode()

    @classmethod
    def from_json(cls, line: bytes) -> CapturerConfig:
        """Build a configuration from the output of ``to_json``."""
        return cls(tuple(RingConfig(**ring) for ring in json.loads(line)["rings"]))
