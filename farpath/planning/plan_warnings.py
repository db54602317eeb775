"""Warnings about a plan: those of its mechanisms, of a buffer too long, and of a time too short."""

from __future__ import annotations

import math

from farpath.base.units import bound_text
from farpath.mechanisms.draw.mechanism import undrawn
from farpath.mechanisms.registry import mechanisms
from farpath.programs.registry import program_of_flow
from farpath.spec.path import ETHERNET_HEADER_BYTES
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow

#: Part of a flow's time that a full drop-tail buffer may take to empty before the flow is in doubt.
#: At 10 Mbit/s and regions of 5 s, where flow4 has 10 s, runs with buffers of 2.4 s pass, and those
#: of 3.2 s fail; with 20 s runs of 4.8 s pass, and those of 8 s fail.
QUEUE_PART = 0.25
#: Round trips from the start of iperf3 to its first data: connection, parameters, streams, their
#: connection and start (iperf_client_api.c). With an RTT of 600 ms data begins after 3.0 s.
SETUP_ROUND_TRIPS = 5
#: Segments of the first window, which slow start doubles in each round trip (RFC 6928, RFC 5681).
FIRST_WINDOW = 10
#: Time that is advised, in times of set-up and slow start.
ADVISED = 2


def plan_warnings(plan: Plan, has_flows: bool = True) -> tuple[str, ...]:
    """Return a sentence for each thing about a plan that its user may not have meant.

    ``has_flows``: whether the flows of the plan run, and not programs in their place.
    """
    return (
        *(sentence for mechanism in mechanisms() for sentence in mechanism.warnings(plan)),
        *_behind_a_queue(plan),
        *(_too_short(plan) if has_flows else ()),
    )


def _too_short(plan: Plan) -> tuple[str, ...]:
    """Warn of flows that end before slow start could fill their path once."""
    needed_s = {
        flow: _round_trips(flow, plan) * plan.pair_rtt_ms(flow.sender, flow.receiver) / 1e3
        for flow in plan.schedule.all_flows
        if program_of_flow(flow, plan).is_tcp
    }
    short = [flow for flow, time_s in needed_s.items() if flow.stop_s - flow.start_s < time_s]
    if not short or plan.transfer_bytes:
        return ()
    worst = max(short, key=lambda flow: needed_s[flow] / (flow.stop_s - flow.start_s))
    time_s, rtt_ms = worst.stop_s - worst.start_s, plan.pair_rtt_ms(worst.sender, worst.receiver)
    advised_s = math.ceil(ADVISED * needed_s[worst] / 5) * 5
    return (
        f"{' and '.join(flow.name for flow in short)} may carry next to nothing: {time_s:g} s are "
        f"{1e3 * time_s / rtt_ms:.1f} round trips of {rtt_ms:g} ms, of which iperf3 takes "
        f"{SETUP_ROUND_TRIPS} before its first data, and slow start {_slow_start(worst, plan):.0f} "
        f"more until it fills the path: give a TIME or REGION of {bound_text(advised_s, 's')} or "
        "more",
    )


def _round_trips(flow: Flow, plan: Plan) -> float:
    """Return the round trips of a flow until its path can be full."""
    return SETUP_ROUND_TRIPS + _slow_start(flow, plan)


def _slow_start(flow: Flow, plan: Plan) -> float:
    """Return the round trips in which slow start grows to the bandwidth-delay product."""
    rtt_ms = plan.pair_rtt_ms(flow.sender, flow.receiver)
    frame_bytes = plan.flow_mtu_bytes(flow) + ETHERNET_HEADER_BYTES
    segments = max(plan.path.rate_bps * rtt_ms / 8e3 / frame_bytes, FIRST_WINDOW)
    return math.log2(segments / FIRST_WINDOW)


def _behind_a_queue(plan: Plan) -> tuple[str, ...]:
    """Warn of flows that join a queue so long that they may begin or end too late.

    Packets of their handshake wait in it or are dropped by it, and so do those with which iperf3's
    ends tell each other that the test is over, for whose answer it waits 10 s.
    """
    path = plan.path
    queue_s = 8 * path.buffer_bytes / path.rate_bps
    flows = undrawn(plan).schedule.all_flows
    first_s = min(flow.start_s for flow in flows)
    joining = [
        flow
        for flow in flows
        if flow.start_s > first_s and queue_s > QUEUE_PART * (flow.stop_s - flow.start_s)
    ]
    if path.queue or not joining:
        return ()
    names = " and ".join(flow.name for flow in joining)
    return (
        f"{names} may begin or end too late, and then the run fails: a full BUFFER of "
        f"{path.buffer_bytes / 1e6:.3g} MB takes {queue_s:.1f} s at {path.rate_bps / 1e6:.3g} "
        "Mbit/s, and what joins waits for it: give a smaller BUFFER or longer regions",
    )
