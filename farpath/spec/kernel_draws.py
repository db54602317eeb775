"""Kernel draws: whether packets of a plan depend on random numbers of the guest's kernel."""

from __future__ import annotations

from farpath.spec.plan import Plan

#: Congestion controls of Linux that draw random numbers (net/ipv4/tcp_*.c). Losses do not: netem's
#: and droppers' come from the plan's seed.
DRAWING_CONTROLS = ("bbr", "bbr3", "cdg", "nv")


def draws_numbers(plan: Plan) -> bool:
    """Whether a plan's packets may depend on random numbers that the guest's kernel draws."""
    return bool(plan.images) or any(
        stack.build or stack.congestion in DRAWING_CONTROLS for stack in plan.stacks
    )
