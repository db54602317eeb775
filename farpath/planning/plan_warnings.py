"""Warnings about a plan: options that have no effect in its run."""

from __future__ import annotations

from farpath.spec.plan import Plan

ECN = "net.ipv4.tcp_ecn"
#: Values of tcp_ecn with which a host requests ECN when it connects: 1, and since Linux 7.0 also
#: 3 and 4, with accurate feedback (net/ipv4/sysctl_net_ipv4.c). The kernel's default is 2.
REQUESTING_ECN = ("1", "3", "4")


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """Return a sentence for each option that has no effect in this run."""
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
