"""Parts that topologies share: a path's delay lines and bottlenecks, and its sending site."""

from __future__ import annotations

from dataclasses import replace

from farpath.spec.hosts import BACKGROUND, CLIENT, PINGER, SENDER, SERVER
from farpath.spec.layout import Link, Wiring
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import (
    Bottleneck,
    DeliveryBottleneck,
    FqMaxrate,
    NetemDelay,
    bottleneck_of,
    nic_qdisc,
    processor_qdisc,
)


def delay_line(
    wiring: Wiring,
    plan: Plan,
    near: str,
    far: str,
    far_delays_s: tuple[float, float] | None,
) -> Link:
    """Link two switches over the path's delay, with its loss towards ``far``.

    ``far_delays_s``: what ``farpath.spec.sites`` says of the plan. Between sites the far link
    delays, and netem only loses, duplicates and jitters, and delays by what a changing RTT is
    above its least. Where hosts run a user's programs, both directions lose.
    """
    path = plan.path
    there_s, back_s = far_delays_s or (0.0, 0.0)
    there: NetemDelay | None = _impaired(path, path.one_way_delay_s - there_s)
    back: NetemDelay | None = NetemDelay(path.one_way_delay_s - back_s, 0.0)
    if plan.programs:
        back = _impaired(path, path.one_way_delay_s)
    if path.rtt_changes:
        there, back = _changing(there, plan, there_s), _changing(back, plan, back_s)
    elif far_delays_s:
        back = None
        there = there if path.jitter_ms or path.loss or path.duplicate else None
    return wiring.link(near, far, path.mtu_bytes, there, back, far_delays_s)


def _impaired(path: Path, delay_s: float) -> NetemDelay:
    """A direction of a delay line with the path's loss, jitter, reordering and duplicates."""
    return NetemDelay(
        *(delay_s, path.loss),
        jitter_s=path.jitter_ms / 1e3,
        reorder=path.reorder,
        duplicate=path.duplicate,
    )


def _changing(line: NetemDelay | None, plan: Plan, far_delay_s: float) -> NetemDelay | None:
    """A direction of a delay line whose delay changes; a far link has ``far_delay_s`` of it."""
    changes = [(at_s, rtt_ms / 2e3 - far_delay_s) for at_s, rtt_ms in plan.rtts.changes]
    return line and replace(line, delay_changes=tuple(changes))


def bottleneck(plan: Plan) -> Bottleneck:
    """The path's rate, and its buffer or active queue."""
    path = plan.path
    if path.rate_trace:
        sizes = (path.buffer_bytes, path.frame_bytes, path.buffer_packets)
        return DeliveryBottleneck(path.rate_bps, *sizes, aqm=path.queue)
    return bottleneck_of(
        *(plan, path.rate_bps, path.buffer_bytes, path.buffer_packets),
        aqm=path.queue,
        rate_changes=tuple((at_s, round(rate_bps)) for at_s, rate_bps in plan.rates.changes),
    )


def bottleneck_back(plan: Plan) -> Bottleneck | None:
    """The bottleneck towards the senders: of the path's rate there, or like the other one.

    None if nothing limits that direction.
    """
    path = plan.path
    if not path.up_rate_bps:
        return bottleneck(plan) if plan.is_limited_both_ways else None
    return bottleneck_of(plan, path.up_rate_bps, path.up_buffer_bytes)


def sending_site(wiring: Wiring, plan: Plan, switch: str, column: float, site: int = 0) -> None:
    """The first sender and the pinger, at a switch.

    An era may give the sender a network card of a rate. The pinger's would never hold a
    packet back and stays infinitely fast, so that it sees the path's RTT. An era may give the
    sender a slow processor too, at the port of the switch that leads to it.
    """
    mtu_bytes = plan.path.mtu_bytes
    sender = wiring.host(SENDER, column, 0.0, site)
    wiring.link(
        sender, switch, mtu_bytes, from_one=nic_qdisc(plan), from_other=processor_qdisc(plan)
    )
    wiring.link(wiring.host(PINGER, column, 1.0, site), switch, mtu_bytes)


def background_source(
    wiring: Wiring, plan: Plan, switch: str, column: float, row: float, site: int = 0
) -> None:
    """The source of the path's background traffic, if it has such, at the bottleneck's switch."""
    if plan.path.background:
        host = wiring.host(BACKGROUND, column, row, site)
        pacing = FqMaxrate(plan.path.background.rate_bps)
        wiring.link(host, switch, plan.path.mtu_bytes, from_one=pacing)


def short_flow_server(
    wiring: Wiring, plan: Plan, switch: str, column: float, row: float, site: int = 0
) -> None:
    """The server of the path's short flows, if it has such, at a switch of the sending site.

    Its port holds nothing back, as the pinger's.
    """
    if plan.path.short_flows:
        wiring.link(wiring.host(SERVER, column, row, site), switch, plan.path.mtu_bytes)


def short_flow_client(
    wiring: Wiring, plan: Plan, switch: str, column: float, row: float, site: int = 0
) -> None:
    """The client of the path's short flows, if it has such, at a switch behind the bottlenecks."""
    if plan.path.short_flows:
        wiring.link(wiring.host(CLIENT, column, row, site), switch, plan.path.mtu_bytes)
