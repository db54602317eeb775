"""Capture: the places of a run whose packets are written to files, and how large these become.

A place is an end host, or a bottleneck: ``bottleneck`` is the path's first, ``bottleneck2`` the
second. At a port, a capture has the packets that arrive and those that leave it, with the time at
which they do. A packet that a bottleneck dropped is in the capture of its sender only.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpath.spec.datagrams import HEADERS_BYTES, size_bytes
from farpath.spec.hosts import BACKGROUND, numbered
from farpath.spec.path import ETHERNET_HEADER_BYTES
from farpath.spec.stack import UDP

if TYPE_CHECKING:
    from farpath.spec.layout import Layout, Port
    from farpath.spec.plan import Plan

BOTTLENECK = "bottleneck"
#: Bytes of each packet that a file holds: from IP and TCP headers without options to the largest
#: frame of Ethernet.
SNAP_BYTES_RANGE = (64, 9_018)
#: All headers of Ethernet, IPv6 and TCP with options fit in.
DEFAULT_SNAP_BYTES = 128
#: Most bytes of all files of a run. They are in the guest's memory until it ends.
MOST_CAPTURE_BYTES = 2_000_000_000
#: Bytes that a file has for a packet beside what it holds of it (``farpath.tools.pcapng``).
PACKET_BLOCK_BYTES = 32
#: Time between two looks at the captured packets in ns: whole ticks of the guest's kernel, so that
#: it adds no event to a run.
INTERVAL_NS = 10_000_000
#: What a sender may send beyond what a bottleneck carries, as a factor, until losses slow it down.
OVERSHOOT = 1.25
#: Packets that are no data: those that open and close connections, pings, neighbours of IPv6.
FURTHER_PACKETS = 10_000
#: Suffix of a capture's file.
SUFFIX = ".pcapng"
#: Offset of a packet's Ethernet header in its slot at most (tpacket_rcv in net/packet/af_packet.c).
PACKET_OFFSET_BYTES = 80
#: Least and most slots of a ring of captured packets.
SLOTS_RANGE = (1 << 12, 1 << 18)


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


def ports(layout: Layout) -> dict[str, Port]:
    """Return the port of each place of a layout that can be captured.

    Other traffic's source is none: a kernel module stands for it.
    """
    by_name = {port.name: port for port in layout.ports}
    bottlenecks = {
        numbered(BOTTLENECK, number): by_name[name]
        for number, name in enumerate(layout.bottlenecks, start=1)
    }
    hosts = {port.node: port for port in layout.ports if port.node in layout.hosts}
    hosts.pop(BACKGROUND, None)
    return {**hosts, **bottlenecks}


def _frame_bytes(plan: Plan) -> int:
    """Return the smallest frame of data that a plan's flows send, in bytes."""
    headers_bytes = HEADERS_BYTES[plan.ip_version] + ETHERNET_HEADER_BYTES
    sizes = [plan.flow_mtu_bytes(flow) + ETHERNET_HEADER_BYTES for flow in plan.schedule.all_flows]
    sizes += [size_bytes(stack) + headers_bytes for stack in plan.stacks if stack.program == UDP]
    return min(sizes)


def most_bytes(plan: Plan, capture: Capture) -> int:
    """Return how large a capture's file becomes at most; packets beyond that are only counted.

    All directions with a bottleneck are full for the whole schedule, with an acknowledgement for
    every second packet, or for each.
    """
    path, directions = plan.path, 1 + bool(plan.schedule.reverse)
    frame_bytes = _frame_bytes(plan)
    data = directions * OVERSHOOT * path.rate_bps * plan.schedule.duration_s / (8 * frame_bytes)
    acks = data / 2 if plan.settings.delayed_ack else data
    held_bytes = min(capture.snap_bytes, frame_bytes)
    held_ack_bytes = min(capture.snap_bytes, DEFAULT_SNAP_BYTES)
    further_bytes = FURTHER_PACKETS * (held_ack_bytes + PACKET_BLOCK_BYTES)
    return round(
        data * (held_bytes + PACKET_BLOCK_BYTES)
        + acks * (held_ack_bytes + PACKET_BLOCK_BYTES)
        + further_bytes
    )


def slots(plan: Plan) -> int:
    """Return how many packets may wait between two looks: twice the windows of all flows.

    A host sends a window at once where nothing spaces its packets.
    """
    window_packets = plan.path.window_bytes * len(plan.schedule.all_flows) // _frame_bytes(plan)
    low, high = SLOTS_RANGE
    return max(low, min(high, 1 << (2 * window_packets).bit_length()))


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
