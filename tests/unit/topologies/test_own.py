"""A user's own network: its ways, its queues, and the plan of a run over it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.lab.artifacts.host_images import places_by_host, programs_by_host
from farpath.planning import memory
from farpath.planning.network_options import parse_topology
from farpath.planning.request import RunRequest
from farpath.planning.rules import check_plan
from farpath.record.identity import plan_identity
from farpath.record.idle_path import IdleRtt, check_base_rtt, idle_rtts
from farpath.report.figures import wiring as pictures
from farpath.report.repeat import command_of
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import FqPacing, LinkBottleneck, NetemDelay
from farpath.spec.user_network import Cable, Shaping, UserNetwork
from tests.support.user_networks import ACCESS, TRUNK, GivenNetwork, own_plan, two_sites
from topologies import lay_out

FLOWS = "h1>h2:cubic h3>h2:2xbbr h4>h1:reno"


def test_the_way_between_hosts_has_the_sum_of_its_delays_and_all_of_its_losses() -> None:
    network = two_sites(back=Shaping(delay_ms=5.5, loss=0.02))
    assert [step.end for step in network.way("h3", "h2")] == ["left", "right", "h2"]
    assert network.rtt_ms("h3", "h2") == network.rtt_ms("h2", "h3") == 25.5
    assert network.rtt_ms("h1", "h3") == 0
    assert network.loss("h1", "h2") == pytest.approx(0.01)
    assert network.loss("h2", "h1") == pytest.approx(0.02)
    assert network.jitter_ms("h1", "h2") == 1.0


def test_a_bottleneck_is_the_lowest_rate_and_of_several_the_one_that_most_flows_cross() -> None:
    network = two_sites(there=ACCESS, back=TRUNK)
    pairs = [("h1", "h2"), ("h3", "h2"), ("h4", "h3")]
    shared, back = network.bottlenecks(pairs)
    assert (shared.start, shared.end) == ("left", "right")
    assert (back.start, back.end) == ("right", "left")
    names = [(step.start, step.end) for step in network.rated(pairs)]
    assert names == [
        *[("h1", "left"), ("left", "right"), ("right", "h2"), ("h3", "left")],
        *[("h4", "right"), ("right", "left"), ("left", "h3")],
    ]


def test_a_cable_with_delay_and_rate_gets_a_switch_within_it_and_keeps_its_ports() -> None:
    plan = own_plan(two_sites(), FLOWS)
    layout = lay_out(plan)
    queues = {port.name: port.queue for port in layout.ports if port.queue}
    delay = NetemDelay(0.02, 0.01, jitter_s=0.001)
    rate = LinkBottleneck(20_000_000, 100 * 1514, 1514, 100)
    for port in ("left-eth9", "right-eth9"):
        queue = queues[port]
        assert isinstance(queue, NetemDelay)
        assert queue == dataclasses.replace(delay, seed=queue.seed)
    assert queues["q1-eth2"] == rate
    assert queues["q1-eth1"] == rate
    access = LinkBottleneck(100_000_000, 1000 * 1514, 1514, 1000)
    assert queues["h1-eth0"] == queues["left-eth1"] == access
    assert layout.bottlenecks == ("q1-eth2", "q1-eth1")
    assert layout.further_queues == (*("h1-eth0", "right-eth1", "h3-eth0", "h4-eth0", "left-eth1"),)
    assert layout.hosts == ("h1", "h2", "h3", "h4")
    assert layout.sites == 1


def test_a_host_that_spaces_packets_does_so_before_its_cable() -> None:
    shaping = Shaping(10_000_000, 50, delay_ms=5)
    network = UserNetwork(
        ("h1", "h2"),
        ("s1",),
        (Cable("s1", 1, "h1", 0, shaping, shaping), Cable("h2", 0, "s1", 2)),
    )
    layout = lay_out(own_plan(network, "h1>h2:udp:size=1000,spacing=12000"))
    ports = [layout.links[number].other for number in (2, 1, 0)]
    kinds: list[type] = [type(port.queue) for port in ports]
    assert [port.node for port in ports] == ["h1", "q2", "q1"]
    assert kinds == [FqPacing, NetemDelay, LinkBottleneck]


def test_switches_within_cables_take_no_name_of_the_users() -> None:
    cables = (Cable("h1", 0, "q1", 1, TRUNK, TRUNK), Cable("h2", 0, "q1", 2))
    layout = lay_out(own_plan(UserNetwork(("h1", "h2"), ("q1",), cables), "h1>h2:reno"))
    assert [node.name for node in layout.nodes] == ["h1", "h2", "q1", "q2"]


def test_a_plan_has_the_flows_between_their_hosts_and_the_first_ones_path() -> None:
    plan = own_plan(two_sites(), FLOWS)
    flows = [(flow.sender, flow.receiver, flow.stack) for flow in plan.schedule.flows]
    assert flows == [
        *[("h1", "h2", "cubic"), ("h3", "h2", "bbr"), ("h3", "h2", "bbr"), ("h4", "h1", "reno")]
    ]
    assert (plan.schedule.name, plan.schedule.duration_s) == ("together", 5.0)
    assert (plan.path.name, plan.path.rtt_ms) == ("own-mine", 40.0)
    assert (plan.path.rate_bps, plan.path.buffer_packets) == (20_000_000, 100)
    assert plan.path.loss == pytest.approx(0.01)
    assert plan.hosts == ("h1", "h3", "h4", "h2")
    assert plan.bottlenecks == 2
    assert plan.settings.memory_bytes > memory.in_flight_bytes(plan) > 0


def test_flows_may_join_one_by_one() -> None:
    request = RunRequest(topology="./mine.py", flows=FLOWS, schedule="joining", region="10s")
    plan = request.plan(user_parts=GivenNetwork(two_sites()))
    assert [flow.start_s for flow in plan.schedule.flows] == [0, 10, 20, 30]


def test_the_window_fits_the_longest_way_unless_it_is_given() -> None:
    far = two_sites(there=Shaping(1_000_000_000, 1000, 500.0), back=Shaping(delay_ms=500.0))
    assert own_plan(far, "h1>h2:cubic").path.window_bytes > 2 * 100_000_000 * 1.0 / 8
    assert own_plan(far, "h1>h2:cubic", window="1MB", mtu="1000").path.window_bytes == 1_000_000


def test_a_plan_survives_json_and_its_identity_is_its_content() -> None:
    plan = own_plan(two_sites(), FLOWS)
    assert Plan.from_dict(json.loads(plan.to_json())) == plan
    moved = own_plan(two_sites(), FLOWS, topology="/elsewhere/mine.py")
    assert plan_identity(moved) == plan_identity(plan)
    other = own_plan(two_sites(there=dataclasses.replace(TRUNK, delay_ms=20.1)), FLOWS)
    assert plan_identity(other) != plan_identity(plan)
    assert command_of(plan) is None


def pings(*rtts_ms: float) -> str:
    """What ping prints of these RTTs."""
    lines = [
        f"[1100000000.{number}] 64 bytes from 10.0.0.2: icmp_seq={number} ttl=64 time={rtt_ms} ms"
        for number, rtt_ms in enumerate(rtts_ms, start=1)
    ]
    count = len(rtts_ms)
    return "\n".join(
        [*lines, f"{count} packets transmitted, {count} received, 0% packet loss, time 1ms", ""]
    )


def test_each_pair_of_hosts_pings_and_its_rtt_is_the_sum_of_delays() -> None:
    still = dataclasses.replace(TRUNK, jitter_ms=0, loss=0)
    plan = own_plan(two_sites(still, still), FLOWS)
    assert list(plan.idle_pings) == ["h1-h2", "h3-h2", "h4-h1"]
    assert check_base_rtt(pings(40.111, 40.111, 40.111), plan, "h3-h2").rtt_ms == 40.111
    with pytest.raises(CheckFailedError, match=r"RTT from h4 to h1 is 41\.000 ms, not 40\.1098 ms"):
        check_base_rtt(pings(41.0, 41.0, 41.0), plan, "h4-h1")
    assert idle_rtts({"h1-h2": IdleRtt(40.0), "h3-h2": IdleRtt(40.1)}) == {
        "idle_rtt_ms": 40.0,
        "idle_rtts_ms": {"h1-h2": 40.0, "h3-h2": 40.1},
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"rtt": "50ms"},
            "rtt is '50ms', but its links say that; leave rtt out, or give links a d",
        ),
        ({"buffer": "1MB"}, "buffer out, or give links a buffer by link"),
        ({"link": "h1-h2:loss=1%"}, "link is 'h1-h2': there is no such link"),
        ({"stack": "cubic"}, "stack is 'cubic', but flows has the stacks"),
        ({"senders": "rtt=50ms"}, "senders is 'rtt=50ms'"),
        ({"drop": "every:9"}, "drop is 'every:9'"),
        ({"lab": "host"}, "a topology of your own does not take it, and topology is one"),
        (
            {"sink": "disk:200MB/s", "flows": "h1>h2:reno h2>h3:reno"},
            "and by flows h2 would do both",
        ),
        ({"ip": "5"}, "ip is '5': it must be 4 or 6"),
    ],
)
def test_options_that_links_take_the_place_of_are_refused(
    words: dict[str, str], message: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        own_plan(two_sites(), **({"flows": FLOWS} | words))
    assert message in caught.value.message


def test_a_way_without_a_rate_is_refused() -> None:
    network = UserNetwork(
        ("h1", "h2"),
        ("s1",),
        (Cable("h1", 0, "s1", 1, Shaping(delay_ms=5)), Cable("h2", 0, "s1", 2)),
    )
    with pytest.raises(BadInputError, match="no link on the way from h1 to h2 has bw"):
        own_plan(network, "h1>h2:reno")


def test_flows_without_a_topology_of_ones_own_are_refused() -> None:
    with pytest.raises(BadInputError, match=r"flows is 'h1>h2:reno': it names hosts of your own"):
        RunRequest(flows="h1>h2:reno").plan()
    with pytest.raises(BadInputError, match="only 'farpath run' and 'farpath draw' take"):
        RunRequest(topology="./mine.py", flows="h1>h2:reno").plan()
    with pytest.raises(BadInputError, match=r"topology is 'own': it must be one of"):
        parse_topology("own")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda plan: {"user_network": None},
            "a topology of your own, and no other, has a network",
        ),
        (lambda plan: {"topology": "dumbbell", "bottlenecks": 1}, "has a network"),
        (lambda plan: {"bottlenecks": 3}, "plan.bottlenecks is 3, unlike those of its network"),
        (
            lambda plan: {"path": dataclasses.replace(plan.path, jitter_ms=1.0)},
            "jitter: a topology of your own does not take it",
        ),
        (
            lambda plan: {
                "schedule": dataclasses.replace(
                    plan.schedule,
                    flows=(dataclasses.replace(plan.schedule.flows[0], sender="sender"),),
                )
            },
            "flow1 has no host 'sender' in its network",
        ),
    ],
)
def test_a_plan_that_was_changed_is_refused(
    change: Callable[[Plan], dict[str, Any]], message: str
) -> None:
    plan = own_plan(two_sites(), FLOWS)
    with pytest.raises(BadInputError, match=message):
        check_plan(dataclasses.replace(plan, **change(plan)))


def test_an_image_for_all_hosts_is_for_each_host_of_a_flow() -> None:
    programs = programs_by_host(own_plan(two_sites(), FLOWS))
    assert programs.pop("h1") == {"iperf3", "ping"}
    assert programs == {host: {"iperf3"} for host in ("h2", "h3", "h4")}
    programs = programs_by_host(own_plan(two_sites(), FLOWS))
    assert set(places_by_host("./mine.tar", programs)) == {"h1", "h2", "h3", "h4"}
    assert places_by_host("h2=./mine.tar", programs) == {"h2": "./mine.tar"}


def test_a_picture_names_every_node_and_marks_each_flows_queues() -> None:
    plan = own_plan(two_sites(), FLOWS)
    axes = pictures.draw(plan).axes[0]
    texts = [text.get_text() for text in axes.texts]
    assert {node.name for node in lay_out(plan).nodes} <= set(texts)
    assert "\N{RIGHTWARDS ARROW} delay 20 ms\njitter 1 ms\nloss 0.01" in texts
    places = [(node.column, node.row) for node in lay_out(plan).nodes]
    assert len(set(places)) == len(places)
    lines = pictures.as_text(plan).splitlines()
    assert lines[0] == "own, path own-mine, IPv4"
    assert "  q1 -> right: 20 Mbit/s, buffer 100 packets" in lines
    assert lines[-1] == "h4 -> h1, RTT 40 ms, MTU 1500: flow4 reno"
