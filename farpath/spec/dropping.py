"""Dropping: which flows and packets of a plan a dropper counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from farpath.spec.dropper import MOST_PACKETS, Dropper
from farpath.spec.path import ETHERNET_HEADER_BYTES

if TYPE_CHECKING:
    from farpath.spec.plan import Plan
    from farpath.spec.schedule import Flow


def drawn_packets(dropper: Dropper, plan: Plan) -> int:
    """Return the number of packets up to which a dropper's losses are listed or drawn."""
    whole = dropper.cycle_packets
    return min(whole, horizon_packets(plan)) if dropper.kind in ("random", "burst") else whole


def horizon_packets(plan: Plan) -> int:
    """Return an upper bound on the packets in a run; losses are drawn up to this number.

    It is twice the number of full packets, at the smallest MTU, that the bottlenecks carry; the
    factor allows for packets that their buffers drop.
    """
    sizes_bytes = [plan.flow_mtu_bytes(flow) for flow in plan.schedule.flows]
    frame_bytes = min(sizes_bytes) + ETHERNET_HEADER_BYTES
    carried_bits = plan.bottlenecks * max(plan.path.rates_bps) * plan.schedule.duration_s
    return min(MOST_PACKETS, math.ceil(2 * carried_bits / 8 / frame_bytes))


def counted_above_bytes(mtu_bytes: int) -> int:
    """Return the packet size in bytes above which a dropper counts a packet as data.

    >>> counted_above_bytes(1500)
    750
    """
    return mtu_bytes // 2


def concerned_flows(dropper: Dropper, plan: Plan) -> list[Flow]:
    """Return the flows whose packets a dropper counts."""
    return [flow for flow in plan.schedule.flows if dropper.flow in ("", flow.name)]
