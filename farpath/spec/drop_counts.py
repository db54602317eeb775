"""Drop counts: at which ports of a plan the lab counts drops by flow."""

from __future__ import annotations

from farpath.spec.layout import Layout
from farpath.spec.plan import Plan

#: Congestion controls of Linux that draw random numbers (net/ipv4/tcp_*.c). Losses do not: netem's
#: and droppers' come from the plan's seed.
DRAWING_CONTROLS = ("bbr", "bbr3", "cdg", "nv")


def draws_numbers(plan: Plan) -> bool:
    """Whether a plan's packets may depend on random numbers that the guest's kernel draws."""
    return bool(plan.images) or any(
        stack.build or stack.congestion in DRAWING_CONTROLS for stack in plan.stacks
    )


def counted_ports(plan: Plan, layout: Layout) -> dict[str, tuple[str, ...]]:
    """Return the ports whose drops are counted: ``queues``, and ``losses`` of random loss.

    A kernel that loads a module draws other random numbers afterwards. Where packets may depend on
    these, sites of senders load none, and a kind with a port there is left out. Active queues draw
    such numbers too, and drop packets after enqueue(), where nothing can be counted: with one there
    are no counts.
    """
    if plan.has_active_queues:
        return {}
    sites = {port.name: layout.site_of(port.node) for port in layout.ports}
    senders = [flow.sender for flow in plan.schedule.all_flows] if draws_numbers(plan) else []
    left_out = {layout.site_of(sender) for sender in senders}
    kinds = {"queues": layout.queues, "losses": layout.losing}
    return {
        kind: ports
        for kind, ports in kinds.items()
        if not any(sites[port] in left_out for port in ports)
    }
