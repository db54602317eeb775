"""Window: the receive buffer that gives an advertised window, and the reverse.

The kernel advertises buffer * ratio / 256, with ratio = 256 * payload / memory of a full
segment (tcp_measure_rcv_mss in net/ipv4/tcp_input.c). A segment's memory is its payload and
840 bytes of overhead, which was measured in the lab at both common MTUs and with both versions
of IP. Every flow's samples hold the window that was really advertised, and the host checks it.
"""

from __future__ import annotations

from farpath.spec.offloads import joins_segments
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow

#: IP and TCP headers of a segment with timestamps, by the version of IP (RFC 791, 8200, 9293,
#: 7323).
SEGMENT_HEADERS_BYTES = {4: 52, 6: 72}
#: Size of the timestamps option, padding included (RFC 7323).
TIMESTAMPS_BYTES = 12
#: Initial rcv_mss estimate; smaller segments never update it. The ratio then keeps its default,
#: by which the window is half of the buffer (tcp_initialize_rcv_mss in net/ipv4/tcp_input.c,
#: TCP_MSS_DEFAULT and TCP_DEFAULT_SCALING_RATIO in include/net/tcp.h).
EXPECTED_SEGMENT_BYTES = 536
EXPECTED_RATIO = 128
#: Memory that a segment takes in addition to its payload.
SEGMENT_OVERHEAD_BYTES = 840


def _ratio(mtu_bytes: int, ip_version: int) -> int:
    payload = mtu_bytes - SEGMENT_HEADERS_BYTES[ip_version]
    if payload <= EXPECTED_SEGMENT_BYTES:
        return EXPECTED_RATIO
    return 256 * payload // (payload + SEGMENT_OVERHEAD_BYTES)


def receive_buffer_bytes(window_bytes: int, mtu_bytes: int, ip_version: int = 4) -> int:
    """Return the receive buffer with which the kernel advertises ``window_bytes``."""
    return -(-window_bytes * 256 // _ratio(mtu_bytes, ip_version))


def offered_window_bytes(buffer_bytes: int, mtu_bytes: int, ip_version: int = 4) -> int:
    """Return the window that the kernel advertises with a receive buffer at this MTU.

    >>> offered_window_bytes(receive_buffer_bytes(1_000_000, 1500), 1500)
    1000000
    >>> offered_window_bytes(receive_buffer_bytes(1_000_000, 1500), 9000)
    1444444
    """
    return buffer_bytes * _ratio(mtu_bytes, ip_version) // 256


def segment_bytes(mtu_bytes: int, ip_version: int = 4) -> tuple[int, int]:
    """Return the payload of a full segment with timestamps, and without.

    >>> segment_bytes(1500), segment_bytes(1500, 6)
    ((1448, 1460), (1428, 1440))
    """
    payload = mtu_bytes - SEGMENT_HEADERS_BYTES[ip_version]
    return payload, payload + TIMESTAMPS_BYTES


def buffer_of(plan: Plan, host: str) -> int:
    """Return a host's receive buffer in bytes.

    It gives the path's window to the flow whose segments have the largest share of overhead. The
    memory of joined segments is mostly payload, but how many are joined first decides the ratio:
    a host that joins segments has a buffer no larger than the window.
    """
    if joins_segments(plan.offloads):
        return plan.path.window_bytes
    return max(
        receive_buffer_bytes(plan.path.window_bytes, plan.flow_mtu_bytes(flow), plan.ip_version)
        for flow in plan.schedule.all_flows
        if flow.receiver == host
    )


def window_of(plan: Plan, flow: Flow) -> int:
    """Return the window that a flow is offered at least, in bytes.

    It is the path's window, or more if the receiver's buffer is sized for a flow with smaller
    segments, or less if its host may join segments and has not.
    """
    buffer_bytes, mtu_bytes = buffer_of(plan, flow.receiver), plan.flow_mtu_bytes(flow)
    if buffer_bytes == receive_buffer_bytes(plan.path.window_bytes, mtu_bytes, plan.ip_version):
        return plan.path.window_bytes
    return offered_window_bytes(buffer_bytes, mtu_bytes, plan.ip_version)


def largest_window_of(plan: Plan, flow: Flow) -> int:
    """Return the largest window that a flow may be offered, in bytes."""
    joined_bytes = plan.path.window_bytes if joins_segments(plan.offloads) else 0
    return max(window_of(plan, flow), joined_bytes)
