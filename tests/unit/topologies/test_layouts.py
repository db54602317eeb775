"""Layouts: the topologies that the lab builds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.spec.layout import Layout, Link
from farpath.spec.qdiscs import LinkBottleneck, NetemDelay
from tests.support.networks import NETWORKS, ROUTED, short_plan
from topologies import lay_out


def way(layout: Layout, start: str, end: str) -> list[tuple[Link, str]]:
    """The cables from one node to another, each with the node that is left by it."""
    before: dict[str, tuple[Link, str]] = {}
    todo, seen = [start], {start}
    while todo:
        node = todo.pop()
        for link in layout.links:
            ends = (link.one.node, link.other.node)
            if node in ends:
                (other,) = set(ends) - {node}
                if other not in seen:
                    seen.add(other)
                    before[other] = (link, node)
                    todo.append(other)
    steps: list[tuple[Link, str]] = []
    while end != start:
        steps.append(before[end])
        end = before[end][1]
    return steps[::-1]


@dataclass(frozen=True)
class FarDelay:
    """The delay of a far link in one direction."""

    delay_s: float


def queues(layout: Layout, start: str, end: str) -> list[object]:
    """What packets from one node to another go through, in order."""
    crossed: list[object] = []
    for link, node in way(layout, start, end):
        is_one = link.one.node == node
        crossed.append(link.one.queue if is_one else link.other.queue)
        if link.far_delays_s:
            crossed.append(FarDelay(link.far_delays_s[0 if is_one else 1]))
    return [queue for queue in crossed if queue]


#: Base RTTs of a plan with a guest for each site, and of one that is too near for that.
RTTS = ("30ms", "1ms")
near_and_far = pytest.mark.parametrize("rtt", RTTS)


def test_other_traffic_joins_the_plain_dumbbell_at_the_bottlenecks_switch() -> None:
    layout = lay_out(short_plan(background="20%"))
    assert [(link.one.name, link.other.name) for link in layout.links] == [
        ("s1-eth1", "s2-eth1"),
        ("receiver-eth0", "s2-eth2"),
        ("sender-eth0", "s1-eth2"),
        ("pinger-eth0", "s1-eth3"),
        ("background-eth0", "s2-eth3"),
    ]
    assert layout.bottlenecks == ("s2-eth2",)
    assert layout.dropping == {"there": ("s2-eth1",), "back": ("s1-eth1",)}


@pytest.mark.parametrize("topology", ["dumbbell", "parking-lot:2"])
def test_short_flows_cross_the_bottlenecks_of_the_first_flow(topology: str) -> None:
    layout = lay_out(short_plan(background="tcp:10%", topology=topology))
    flow = queues(layout, "sender", "receiver")
    assert queues(layout, "server", "client") == flow
    assert queues(layout, "client", "server") == queues(layout, "receiver", "sender")
    assert layout.site_of("server") == layout.site_of("sender")
    assert layout.site_of("client") == layout.site_of("receiver")


@near_and_far
@pytest.mark.parametrize("words", NETWORKS, ids=str)
def test_droppers_stand_where_packets_leave_the_paths_delay_lines(
    words: dict[str, str], rtt: str
) -> None:
    # No further sender's own delay line is as long
    plan = short_plan(**words, rtt=rtt)
    layout = lay_out(plan)
    line_s = plan.path.one_way_delay_s
    lines = [
        link
        for link in layout.links
        if link.far_delays_s == (line_s, line_s)
        or (isinstance(link.one.queue, NetemDelay) and link.one.queue.delay_s == line_s)
    ]
    assert layout.dropping["there"] == tuple(link.other.name for link in lines)
    assert layout.dropping["back"] == tuple(link.one.name for link in lines)


@near_and_far
@pytest.mark.parametrize("impairment", [{}, {"jitter": "100us", "loss": "1%"}], ids=str)
@pytest.mark.parametrize("words", NETWORKS, ids=str)
def test_delays_of_a_way_there_and_back_are_its_base_rtt(
    words: dict[str, str], impairment: dict[str, str], rtt: str
) -> None:
    plan = short_plan(**words, **impairment, rtt=rtt)
    layout = lay_out(plan)
    for flow in plan.schedule.flows:
        ends = (flow.sender, flow.receiver)
        both = queues(layout, *ends) + queues(layout, *reversed(ends))
        rtt_s = sum(queue.delay_s for queue in both if isinstance(queue, NetemDelay | FarDelay))
        assert rtt_s * 1e3 == pytest.approx(plan.host_rtt_ms(flow.sender))


@near_and_far
@pytest.mark.parametrize("words", NETWORKS, ids=str)
def test_a_flows_packets_are_delayed_before_each_bottleneck(
    words: dict[str, str], rtt: str
) -> None:
    layout = lay_out(short_plan(**words, rtt=rtt))
    for flow in short_plan(**words).schedule.all_flows:
        kinds = [type(queue) for queue in queues(layout, flow.sender, flow.receiver)]
        delay = FarDelay if rtt == "30ms" else NetemDelay
        assert LinkBottleneck in kinds
        assert kinds.index(delay) < kinds.index(LinkBottleneck)


@given(bottlenecks=st.integers(2, 8))
def test_a_parking_lot_has_a_site_for_each_bottleneck_and_one_for_the_row(bottlenecks: int) -> None:
    layout = lay_out(short_plan(topology=f"parking-lot:{bottlenecks}"))
    assert layout.sites == bottlenecks + 1
    assert len(layout.far_links) == bottlenecks + 1


@pytest.mark.parametrize("words", NETWORKS, ids=str)
def test_only_far_links_join_sites(words: dict[str, str]) -> None:
    layout = lay_out(short_plan(**words))
    for link in layout.links:
        joins_sites = layout.site_of(link.one.node) != layout.site_of(link.other.node)
        assert joins_sites == (link in layout.far_links)


def test_a_parking_lot_that_drops_on_the_way_back_runs_in_one_guest() -> None:
    plan = short_plan(topology="parking-lot:2", drop="every:1000,direction=back")
    assert {dropper.direction for dropper in plan.droppers} == {"back"}
    assert lay_out(plan).sites == 1


@pytest.mark.parametrize("words", NETWORKS, ids=str)
def test_it_is_a_tree_of_hosts_with_one_port_each(words: dict[str, str]) -> None:
    plan = short_plan(**words)
    layout = lay_out(plan)
    assert len(layout.links) == len(layout.nodes) - 1
    names = [port.name for port in layout.ports]
    assert len(set(names)) == len(names)
    ports = Counter(port.node for port in layout.ports)
    hosts = {node.name for node in layout.nodes if node.is_host}
    assert {ports[host] for host in hosts} == {1}
    assert set(plan.hosts) <= hosts
    assert {layout.mtus_bytes[f"{host}-eth0"] for host in plan.hosts} == {
        plan.host_mtu_bytes(host) for host in plan.hosts
    }


@given(bottlenecks=st.integers(2, 8))
def test_the_long_way_has_every_bottleneck_and_each_other_way_one(bottlenecks: int) -> None:
    plan = short_plan(topology=f"parking-lot:{bottlenecks}")
    layout = lay_out(plan)
    counts = [
        sum(
            isinstance(queue, LinkBottleneck)
            for queue in queues(layout, flow.sender, flow.receiver)
        )
        for flow in plan.schedule.flows
    ]
    assert counts == [bottlenecks, *[1] * bottlenecks]
    assert len(layout.bottlenecks) == bottlenecks


def test_delay_lines_of_a_parking_lot_do_not_lose_the_same_packets() -> None:
    layout = lay_out(short_plan(topology="parking-lot:3", loss="1%"))
    seeds = [
        port.queue.seed
        for port in layout.ports
        if isinstance(port.queue, NetemDelay) and port.queue.loss
    ]
    assert len(seeds) == len(set(seeds)) == 4


def test_with_reverse_flows_each_direction_has_one_bottleneck_of_the_same_kind() -> None:
    layout = lay_out(short_plan(reverse="reno"))
    forward, back = queues(layout, "sender", "receiver"), queues(layout, "receiver", "sender")
    assert [type(queue) for queue in forward] == [type(queue) for queue in back]
    assert forward[-1] == back[-1]


@pytest.mark.parametrize("words", ROUTED, ids=str)
def test_a_routed_path_is_the_dumbbell_with_the_routers_of_its_path_before_it(
    words: dict[str, str],
) -> None:
    plan = short_plan(**words)
    routed, dumbbell = lay_out(plan), lay_out(short_plan(**{**words, "topology": "dumbbell"}))
    for flow in plan.schedule.all_flows:
        for start, end in ((flow.sender, flow.receiver), (flow.receiver, flow.sender)):
            assert queues(routed, start, end) == queues(dumbbell, start, end)
    hops = {node.name: node.hop for node in routed.nodes}
    crossed = [hops[node] for _, node in way(routed, "sender", "receiver") if hops[node]]
    assert tuple(crossed) == plan.path.hop_names
    assert len(routed.bottlenecks) == len(dumbbell.bottlenecks)
    assert {routed.site_of(router) for router in routed.routers} == {routed.site_of("sender")}
    assert routed.dropping == dumbbell.dropping
