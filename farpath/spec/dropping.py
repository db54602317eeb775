"""Dropping: which flows and how many packets of a plan a dropper concerns. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from farpath.spec.dropper import MOST_PACKETS, Dropper
from farpath.spec.path import ETHERNET_HEADER_BYTES

if TYPE_CHECKING:
    from farpath.spec.plan import Plan
    from farpath.spec.schedule import Flow


def horizon_packets(plan: Plan) -> int:
    """More packets than a plan's path lets through: how far a burst's losses are drawn.

    Twice what its bottlenecks carry in full packets of the smallest size, for those that
    their buffers drop.
    """
    sizes_bytes = [plan.flow_mtu_bytes(flow) for flow in plan.schedule.flows]
    frame_bytes = min(sizes_bytes) + ETHERNET_HEADER_BYTES
    carried_bits = plan.bottlenecks * plan.path.rate_bps * plan.schedule.duration_s
    return min(MOST_PACKETS, math.ceil(2 * carried_bits / 8 / frame_bytes))


def counted_above_bytes(mtu_bytes: int) -> int:
    """The size above which a packet of a flow is data to a dropper.

    >>> counted_above_bytes(1500)
    750
    """
    return mtu_bytes // 2


def concerned_flows(dropper: Dropper, plan: Plan) -> list[Flow]:
    """The flows whose packets a dropper counts."""
    return [flow for flow in plan.schedule.flows if dropper.flow in ("", flow.name)]
