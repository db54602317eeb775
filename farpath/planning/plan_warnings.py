"""Warnings about a plan: options that have no effect, marks that starve, a buffer too long."""

from __future__ import annotations

from farpath.spec.aqm import Aqm
from farpath.spec.ecn import MODES, NONE, REQUESTING, SYSCTL, agreed_mode, needs_ecn
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import FqPacing, nic_qdisc

#: Part of a flow's time that a full drop-tail buffer may take to empty before the flow is in doubt.
#: At 10 Mbit/s and regions of 5 s, where flow4 has 10 s, runs with buffers of 2.4 s pass, and those
#: of 3.2 s fail; with 20 s runs of 4.8 s pass, and those of 8 s fail.
QUEUE_PART = 0.25


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """Return a sentence for each thing about a plan that its user may not have meant."""
    return (
        *_unmarked(plan),
        *_starved_by_marks(plan),
        *_without_card_queue(plan),
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


def _unmarked(plan: Plan) -> tuple[str, ...]:
    """Warn of ECN where the bottleneck marks no packet."""
    of_ways = plan.network.rated(plan.pairs) if plan.network else ()
    queues = [step.shaping.queue for step in of_ways] or [plan.path.queue]
    if any(queue and queue.marks for queue in queues):
        return ()
    labels = [stack.label for stack in plan.stacks if needs_ecn(stack.sysctl)]
    if labels:
        subject = f"{' and '.join(labels)} {'reacts' if len(labels) == 1 else 'react'}"
    elif plan.ecn and MODES[plan.ecn].tcp_ecn in REQUESTING:
        subject = f"end hosts react by ECN={plan.ecn}"
    elif plan.path.sysctl.get(SYSCTL) in REQUESTING:
        subject = f"end hosts react by {SYSCTL}"
    else:
        return ()
    queue = "a drop-tail buffer, which only drops"
    if plan.path.queue:
        queue = f"{plan.path.queue}, which only drops without ecn"
    return (f"{subject} to packets marked by ECN, and the bottleneck marks none: it is {queue}",)


def _starved_by_marks(plan: Plan) -> tuple[str, ...]:
    """Warn of classic flows whose packets are marked in one queue with those of a scalable stack.

    A classic stack halves its window for a mark (RFC 3168, 6.1.2), a scalable one takes off the
    fraction of its packets that were marked (RFC 8257, 3.3), so that the classic flow starves.
    Queues that give each flow a queue of its own share the rate nevertheless.
    """
    queue = plan.path.queue
    if not queue or not queue.marks or _has_queue_for_each_flow(queue):
        return ()
    scalable = [stack.label for stack in plan.stacks if needs_ecn(stack.sysctl)]
    classic = dict.fromkeys(
        stack.label
        for flow in plan.schedule.all_flows
        if (stack := plan.stack_of(flow)).congestion
        and not needs_ecn(stack.sysctl)
        and (not plan.ecn or agreed_mode(plan, flow) != NONE)
    )
    if not scalable or not classic:
        return ()
    names, others = " and ".join(classic), " and ".join(scalable)
    several = len(classic) > 1
    return (
        f"{names} {'send' if several else 'sends'} packets of ECN (ECT(0)) as {others} does, so "
        f"{queue.kind} marks both alike: {names} "
        f"{'halve their windows' if several else 'halves its window'} for a mark, {others} takes "
        f"off less and gets most of the rate; for the coupled queues of RFC 9332 give "
        f"QUEUE=dualpi2:any_ect, ECN=passive, and {names} another host than {others}, "
        f"as in SENDERS=rtt={plan.path.rtt_ms:g}ms",
    )


def _has_queue_for_each_flow(queue: Aqm) -> bool:
    """Whether flows have queues of their own: fq_codel, fq_pie, and cake unless it is told not to.

    cake's ``flowblind`` has one queue, its words of hosts one for each host (tc-cake(8)).
    """
    if queue.kind == "cake":
        return not queue.parameters.keys() & {"flowblind", "srchost", "dsthost", "hosts"}
    return queue.kind.startswith("fq_")


def _without_card_queue(plan: Plan) -> tuple[str, ...]:
    """Warn of TCP whose host lacks the queue of its card, since its port spaces packets of UDP."""
    if plan.era.txqueuelen_packets is None:
        return ()
    stacks: dict[str, list[str]] = {}
    for flow in plan.schedule.all_flows:
        stack = plan.stack_of(flow)
        if stack.congestion and isinstance(nic_qdisc(plan, flow.sender), FqPacing):
            stacks.setdefault(flow.sender, []).append(stack.label)
    return tuple(
        f"{' and '.join(dict.fromkeys(labels))} at {host} has no queue of txqueuelen and ring, "
        "because the host's port spaces packets of UDP: give TCP a host of its own, as in "
        "SENDERS=rtt=50ms"
        for host, labels in stacks.items()
    )
