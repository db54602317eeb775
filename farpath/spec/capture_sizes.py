"""Capture sizes: the ports of a plan's captures, and how large their files and rings become."""

from __future__ import annotations

from farpath.spec.capture import BOTTLENECK, DEFAULT_SNAP_BYTES, Capture
from farpath.spec.datagrams import HEADERS_BYTES, size_bytes
from farpath.spec.hosts import BACKGROUND, numbered
from farpath.spec.layout import Layout, Port
from farpath.spec.path import ETHERNET_HEADER_BYTES
from farpath.spec.plan import Plan
from farpath.spec.stack import UDP

#: Bytes that a file has for a packet beside what it holds of it (``farpath.tools.pcapng``).
PACKET_BLOCK_BYTES = 32
#: What a sender may send beyond what a bottleneck carries, as a factor, until losses slow it down.
OVERSHOOT = 1.25
#: Packets that are no data: those that open and close connections, pings, neighbours of IPv6.
FURTHER_PACKETS = 10_000
#: Least and most slots of a ring of captured packets.
SLOTS_RANGE = (1 << 12, 1 << 18)


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
    highest_bps = max(path.rates_bps)
    data = directions * OVERSHOOT * highest_bps * plan.schedule.duration_s / (8 * frame_bytes)
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
