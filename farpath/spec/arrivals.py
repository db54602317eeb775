"""Arrivals: when a plan's short flows start, and how large each is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.spec.path import ETHERNET_HEADER_BYTES
from farpath.spec.plan import Plan
from farpath.spec.seeds import stream
from farpath.spec.window import SEGMENT_HEADERS_BYTES, TIMESTAMPS_BYTES

#: Port of the short flows' server.
SERVER_PORT = 5900
#: Frames without payload that a transfer takes towards its client: the SYN-ACK, the
#: acknowledgements of the request and of the client's end, and the server's end.
EMPTY_FRAMES = 4
#: How much longer the SYN-ACK is: options of 20 bytes instead of 12 (tcp_synack_options in
#: net/ipv4/tcp_output.c: segment size, window scale, SACK, timestamps).
SYN_ACK_EXTRA_BYTES = 8
#: Most short flows of a run; their table and what the lab keeps of them grow with their number.
MOST_SHORT_FLOWS = 1_000_000


@dataclass(frozen=True)
class Arrival:
    """A short flow: its number from 0, its start in s from the schedule's, and its size."""

    number: int
    start_s: float
    size_bytes: int


def _header_bytes(plan: Plan) -> int:
    """Return the headers of a frame with timestamps, or without if the hosts have none."""
    settings = {**plan.path.sysctl, **plan.era.sysctl}
    without = TIMESTAMPS_BYTES if settings.get("net.ipv4.tcp_timestamps") == "0" else 0
    return ETHERNET_HEADER_BYTES + SEGMENT_HEADERS_BYTES[plan.ip_version] - without


def _payload_bytes(plan: Plan) -> int:
    return plan.path.frame_bytes - _header_bytes(plan)


def own_bytes(plan: Plan) -> int:
    """Return the bytes of a transfer's frames without payload, towards its client."""
    return EMPTY_FRAMES * _header_bytes(plan) + SYN_ACK_EXTRA_BYTES


def mean_frames_bytes(plan: Plan) -> float:
    """Return the bytes of frames that a mean transfer takes; its last frame is half full."""
    assert plan.path.short_flows is not None
    size_bytes = plan.path.short_flows.mean_bytes
    frames = max(1.0, size_bytes / _payload_bytes(plan) + 0.5)
    return size_bytes + frames * _header_bytes(plan) + own_bytes(plan)


def frames_bytes(plan: Plan, size_bytes: int) -> int:
    """Return the bytes of frames that a transfer of a size takes, without retransmissions."""
    frames = -(-size_bytes // _payload_bytes(plan))
    return size_bytes + frames * _header_bytes(plan) + own_bytes(plan)


def arrivals_per_s(plan: Plan) -> float:
    """Return the mean number of short flows that start in a second; 0 without any."""
    short = plan.path.short_flows
    return short.rate_bps / 8 / mean_frames_bytes(plan) if short else 0.0


def check_number(plan: Plan) -> None:
    """Raise BadInputError for a plan with more short flows than a run can keep."""
    expected = arrivals_per_s(plan) * plan.schedule.duration_s
    if expected > MOST_SHORT_FLOWS:
        raise BadInputError(
            option="background",
            problem=f"{expected:,.0f} short flows, and at most {MOST_SHORT_FLOWS:,} are possible",
            remedy="give a larger size, a lower rate or a shorter `region`",
        )


def arrivals(plan: Plan) -> Iterator[Arrival]:
    """Yield a plan's short flows in the order of their starts, which are whole microseconds.

    They are equal for equal seeds. The times between starts are drawn from an exponential
    distribution, and sizes by random numbers of their own.
    """
    short = plan.path.short_flows
    if short is None:
        return
    starts = stream(plan.seed, "short flows", "starts")
    sizes = stream(plan.seed, "short flows", "sizes")
    rate, at_s, number = arrivals_per_s(plan), 0.0, 0
    while (at_s := at_s + starts.expovariate(rate)) < plan.schedule.duration_s:
        yield Arrival(number, round(at_s, 6), short.draw_bytes(sizes))
        number += 1
