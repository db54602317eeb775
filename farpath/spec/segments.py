"""Parts that topologies share: a path's delay lines and bottlenecks, and its sending site."""

from __future__ import annotations

from farpath.spec.hosts import BACKGROUND, PINGER, SENDER
from farpath.spec.layout import Wiring
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import FqMaxrate, NetemDelay, TbfBottleneck, lateness_s, nic_qdisc


def delay_there(plan: Plan, seed: int) -> NetemDelay:
    """The path's delay line towards the receiver, with what else befalls packets there."""
    path = plan.path
    return NetemDelay(
        *(path.one_way_delay_s, path.loss, seed),
        jitter_s=path.jitter_ms / 1e3,
        reorder=path.reorder,
        duplicate=path.duplicate,
    )


def delay_back(plan: Plan) -> NetemDelay:
    """The path's delay line towards the sender, which loses nothing."""
    return NetemDelay(plan.path.one_way_delay_s, 0.0, plan.seed)


def bottleneck(plan: Plan) -> TbfBottleneck:
    """The path's rate and buffer."""
    path = plan.path
    late_s = lateness_s(plan.settings.clock, path.rate_bps, path.frame_bytes)
    return TbfBottleneck(path.rate_bps, path.buffer_bytes, path.frame_bytes, late_s)


def sending_site(wiring: Wiring, plan: Plan, switch: str, column: float) -> None:
    """The first sender, the pinger, and the source of background traffic, at a switch.

    An era may give the sender a network card of a rate. The pinger's would never hold a
    packet back and stays infinitely fast, so that it sees the path's RTT.
    """
    mtu_bytes = plan.path.mtu_bytes
    sender = wiring.host(SENDER, column, 0.0)
    wiring.link(sender, switch, mtu_bytes, from_one=nic_qdisc(plan))
    wiring.link(wiring.host(PINGER, column, 1.0), switch, mtu_bytes)
    if plan.path.background:
        sources = FqMaxrate(plan.path.background.rate_bps)
        wiring.link(wiring.host(BACKGROUND, column, 2.0), switch, mtu_bytes, from_one=sources)
