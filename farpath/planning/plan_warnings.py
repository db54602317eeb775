"""Warnings about a plan: options that have no effect in its run."""

from __future__ import annotations

from farpath.spec.plan import Plan
from farpath.spec.qdiscs import FqPacing, nic_qdisc

ECN = "net.ipv4.tcp_ecn"
#: Values of tcp_ecn with which a host requests ECN when it connects: 1, and since Linux 7.0 also
#: 3 and 4, with accurate feedback (net/ipv4/sysctl_net_ipv4.c). The kernel's default is 2.
REQUESTING_ECN = ("1", "3", "4")


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """Return a sentence for each option that has no effect in this run."""
    return (*_unmarked(plan), *_without_card_queue(plan))


def _unmarked(plan: Plan) -> tuple[str, ...]:
    """Warn of stacks that react to marks, which the bottleneck does not set."""
    labels = [stack.label for stack in plan.stacks if stack.sysctl.get(ECN) in REQUESTING_ECN]
    if labels:
        subject = f"{' and '.join(labels)} {'reacts' if len(labels) == 1 else 'react'}"
    elif plan.path.sysctl.get(ECN) in REQUESTING_ECN:
        subject = f"end hosts react by {ECN}"
    else:
        return ()
    return (
        f"{subject} to packets marked by ECN, and the bottleneck marks none: it is a drop-tail "
        "buffer, which only drops",
    )


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
