"""Drop counts: at which ports of a plan the lab counts drops by flow."""

from __future__ import annotations

from farpath.spec.layout import Layout
from farpath.spec.plan import Plan


def counted_ports(plan: Plan, layout: Layout) -> dict[str, tuple[str, ...]]:
    """Return the ports whose drops are counted: ``queues``, and ``losses`` of random loss.

    Active queues drop packets after enqueue(), where nothing can be counted: with one there are no
    counts.
    """
    if plan.has_active_queues:
        return {}
    return {"queues": layout.queues, "losses": layout.losing}
