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

    Active queues drop packets after enqueue(), where nothing can be counted: with one there are no
    counts.
    """
    if plan.has_active_queues:
        return {}
    return {"queues": layout.queues, "losses": layout.losing}
