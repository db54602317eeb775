"""Warnings about a plan: those of its mechanisms, and of a buffer too long."""

from __future__ import annotations

from farpath.mechanisms.registry import mechanisms
from farpath.spec.plan import Plan

#: Part of a flow's time that a full drop-tail buffer may take to empty before the flow is in doubt.
#: At 10 Mbit/s and regions of 5 s, where flow4 has 10 s, runs with buffers of 2.4 s pass, and those
#: of 3.2 s fail; with 20 s runs of 4.8 s pass, and those of 8 s fail.
QUEUE_PART = 0.25


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """Return a sentence for each thing about a plan that its user may not have meant."""
    return (
        *(sentence for mechanism in mechanisms() for sentence in mechanism.warnings(plan)),
        *_behind_a_queue(plan),
    )


def _behind_a_queue(plan: Plan) -> tuple[str, ...]:
    """Warn of flows that join a queue so long that they may begin or end too late.

    Packets of their handshake wait in it or are dropped by it, and so do those with which iperf3's
    ends tell each other that the test is over, for whose answer it waits 10 s.
    """
    path = plan.path
    queue_s = 8 * path.buffer_bytes / path.rate_bps
    flows = plan.schedule.all_flows
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
