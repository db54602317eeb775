"""Warnings about a plan: options that have no effect in its run."""

from __future__ import annotations

from farpath.spec.ecn import MODES, REQUESTING, SYSCTL, needs_ecn
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import FqPacing, nic_qdisc


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """Return a sentence for each option that has no effect in this run."""
    return (*_unmarked(plan), *_without_card_queue(plan))


def _unmarked(plan: Plan) -> tuple[str, ...]:
    """Warn of ECN where the bottleneck marks no packet."""
    if plan.path.queue and plan.path.queue.marks:
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
