"""Layouts: the topologies that the lab builds and that pictures show."""

from __future__ import annotations

from collections import Counter
from pathlib import Path as FilePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.planning.request import RunRequest
from farpath.report.figures import topology as pictures
from farpath.spec.hosts import TOPOLOGIES
from farpath.spec.layout import Layout, Link
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import NetemDelay, TbfBottleneck
from tests.support.command_line import Farpath
from topologies import MODULES, lay_out


def plan_of(**words: str) -> Plan:
    """The plan of a run on a path of 20 ms."""
    texts = {"rtt": "20ms", "stack": "reno", "schedule": "together"} | words
    return RunRequest(**texts).plan()


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


def queues(layout: Layout, start: str, end: str) -> list[object]:
    """What packets from one node to another go through, in order."""
    ports = [
        link.one if link.one.node == node else link.other for link, node in way(layout, start, end)
    ]
    return [port.queue for port in ports if port.queue]


NETWORKS = [
    {},
    {"senders": "rtt=40ms mtu=1400 rtt=30ms,mtu=1300", "stack": "reno"},
    {"reverse": "reno"},
    {"senders": "rtt=40ms", "reverse": "2xreno", "background": "20%"},
    {"topology": "parking-lot:2"},
    {"topology": "parking-lot:8", "background": "cbr:10Mbit"},
]


def test_the_plain_dumbbell_is_wired_as_it_always_was() -> None:
    layout = lay_out(plan_of(background="20%"))
    assert [(link.one.name, link.other.name) for link in layout.links] == [
        ("s1-eth1", "s2-eth1"),
        ("receiver-eth0", "s2-eth2"),
        ("sender-eth0", "s1-eth2"),
        ("pinger-eth0", "s1-eth3"),
        ("background-eth0", "s1-eth4"),
    ]
    assert layout.bottlenecks == ("s2-eth2",)
    assert layout.dropping == {"there": ("s2-eth1",), "back": ("s1-eth1",)}


@pytest.mark.parametrize("words", NETWORKS, ids=str)
def test_droppers_stand_where_packets_leave_the_paths_delay_lines(words: dict[str, str]) -> None:
    # No further sender's own delay line is as long
    plan = plan_of(**words, rtt="30ms")
    layout = lay_out(plan)
    line_s = plan.path.one_way_delay_s
    lines = [
        link
        for link in layout.links
        if isinstance(link.one.queue, NetemDelay) and link.one.queue.delay_s == line_s
    ]
    assert layout.dropping["there"] == tuple(link.other.name for link in lines)
    assert layout.dropping["back"] == tuple(link.one.name for link in lines)


@pytest.mark.parametrize("words", NETWORKS, ids=str)
def test_delays_of_a_way_there_and_back_are_its_base_rtt(words: dict[str, str]) -> None:
    plan = plan_of(**words)
    layout = lay_out(plan)
    for flow in plan.schedule.flows:
        ends = (flow.sender, flow.receiver)
        both = queues(layout, *ends) + queues(layout, *reversed(ends))
        rtt_s = sum(queue.delay_s for queue in both if isinstance(queue, NetemDelay))
        assert rtt_s * 1e3 == pytest.approx(plan.host_rtt_ms(flow.sender))


@pytest.mark.parametrize("words", NETWORKS, ids=str)
def test_a_flows_packets_are_delayed_before_each_bottleneck(words: dict[str, str]) -> None:
    plan = plan_of(**words)
    layout = lay_out(plan)
    for flow in plan.schedule.all_flows:
        kinds = [type(queue) for queue in queues(layout, flow.sender, flow.receiver)]
        assert TbfBottleneck in kinds
        assert kinds.index(NetemDelay) < kinds.index(TbfBottleneck)


@pytest.mark.parametrize("words", NETWORKS, ids=str)
def test_it_is_a_tree_of_hosts_with_one_port_each(words: dict[str, str]) -> None:
    plan = plan_of(**words)
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
    plan = plan_of(topology=f"parking-lot:{bottlenecks}")
    layout = lay_out(plan)
    counts = [
        sum(
            isinstance(queue, TbfBottleneck) for queue in queues(layout, flow.sender, flow.receiver)
        )
        for flow in plan.schedule.flows
    ]
    assert counts == [bottlenecks, *[1] * bottlenecks]
    assert len(layout.bottlenecks) == bottlenecks


def test_delay_lines_of_a_parking_lot_do_not_lose_the_same_packets() -> None:
    layout = lay_out(plan_of(topology="parking-lot:3", loss="1%"))
    seeds = [
        port.queue.seed
        for port in layout.ports
        if isinstance(port.queue, NetemDelay) and port.queue.loss
    ]
    assert len(seeds) == len(set(seeds)) == 4


def test_with_reverse_flows_each_direction_has_one_bottleneck_of_the_same_kind() -> None:
    layout = lay_out(plan_of(reverse="reno"))
    there, back = queues(layout, "sender", "receiver"), queues(layout, "receiver", "sender")
    assert [type(queue) for queue in there] == [type(queue) for queue in back]
    assert there[-1] == back[-1]


def test_every_topology_has_a_layout() -> None:
    assert set(MODULES) == set(TOPOLOGIES)


@pytest.mark.parametrize("words", NETWORKS, ids=str)
def test_a_picture_names_every_host_and_all_that_packets_meet(words: dict[str, str]) -> None:
    plan = plan_of(**words, drop="every:1000")
    layout = lay_out(plan)
    shown = [text.get_text() for text in pictures.draw(plan).axes[0].texts]
    assert {node.name for node in layout.nodes} <= set(shown)
    words_shown = "\n".join(shown)
    narrow = words_shown.count("450 Mbit/s\nbuffer")
    assert narrow == len(layout.bottlenecks)
    assert words_shown.count("drop every:1000") == len(layout.dropping["there"])
    own_mtus = {sender.mtu_bytes for sender in plan.senders} - {plan.path.mtu_bytes}
    assert all(f"MTU {mtu_bytes}" in words_shown for mtu_bytes in own_mtus)


def test_a_drawing_is_a_file_or_text_and_takes_the_options_of_a_run(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    file = tmp_path / "lot.png"
    ended = farpath("draw", "--topology=parking-lot:2", "--rtt=50ms", f"--out={file}")
    assert ended.status == 0
    assert file.read_bytes().startswith(b"\x89PNG")
    ended = farpath("draw", "--rtt=50ms", "--senders=rtt=60ms", "--text", "--schedule=together")
    assert "s3 -> s1: delay 5 ms" in ended.out
    assert "sender2 -> receiver, RTT 60 ms" in ended.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rtt=50"], "--rtt is '50'"),
        (["--colour=red"], "'--colour=red' is no option of a run"),
        (["--rtt", "50ms"], "'--rtt' is no option of a run: give --rtt=164ms"),
        (["--rtt=50ms", "--out=lot.pdf"], "it must end with .png or .svg"),
    ],
)
def test_a_drawing_of_nothing_is_refused(farpath: Farpath, options: list[str], said: str) -> None:
    ended = farpath("draw", *options)
    assert ended.status == 2
    assert said in ended.err
    assert len(ended.err.strip().splitlines()) == 1
