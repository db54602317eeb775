"""Plan warnings: what of a run cannot show what it seems to be asked for."""

from __future__ import annotations

from farpath.spec.plan import Plan

ECN = "net.ipv4.tcp_ecn"
#: Values of tcp_ecn with which a host asks for ECN when it connects: 1, and from Linux 7.0 on
#: with accurate feedback 3 and 4 (net/ipv4/sysctl_net_ipv4.c); 2 is the kernel's default.
ASKING = ("1", "3", "4")


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """A sentence for each thing asked for that has nothing to act on in this run."""
    needing = [stack.label for stack in plan.stacks if stack.sysctl.get(ECN) in ASKING]
    if needing:
        who = f"{' and '.join(needing)} {'reacts' if len(needing) == 1 else 'react'}"
    elif plan.path.sysctl.get(ECN) in ASKING:
        who = f"end hosts react by {ECN}"
    else:
        return ()
    return (
        f"{who} to packets marked by ECN, and the bottleneck marks none: it is a drop-tail buffer, "
        "which only drops",
    )
