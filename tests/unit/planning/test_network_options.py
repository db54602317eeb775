"""Who sends to whom: what texts mean, which flows run where, and what is refused."""

from __future__ import annotations

import json

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.network_options import flow_routes, resolve_network
from farpath.planning.path_files import path_by_name
from farpath.planning.request import RunRequest
from farpath.spec.plan import Plan
from tests.support.plans import network_plan
from tests.support.refusals import refused


def test_one_stack_alone_is_sent_by_each_sender_and_several_are_taken_in_turn() -> None:
    alone = network_plan(senders="rtt=172ms rtt=172ms").schedule.flows
    assert [(flow.sender, flow.stack) for flow in alone] == [
        ("sender", "reno"),
        ("sender2", "reno"),
        ("sender3", "reno"),
    ]
    four = network_plan(senders="rtt=172ms", stack="reno+htcp+2xbic").schedule.flows
    assert [flow.sender for flow in four] == ["sender", "sender2", "sender", "sender2"]
    assert {flow.receiver for flow in four} == {"receiver"}


def test_a_sender_without_a_flow_is_refused() -> None:
    with pytest.raises(BadInputError, match="3 senders and 2 flows"):
        network_plan(senders="rtt=172ms rtt=172ms", stack="reno+htcp")


def test_reverse_flows_last_as_long_as_the_schedule_and_are_no_part_of_what_is_measured() -> None:
    schedule = network_plan(reverse="2xreno", senders="rtt=172ms", region="30s").schedule
    assert [(flow.sender, flow.receiver) for flow in schedule.reverse] == [
        ("receiver", "sender"),
        ("receiver", "sender2"),
    ]
    assert {(flow.start_s, flow.stop_s) for flow in schedule.reverse} == {(0.0, 30.0)}
    assert [region.flows for region in schedule.regions()] == [("flow1", "flow2")]
    ports = [flow.port for flow in schedule.all_flows]
    assert len(set(ports)) == len(ports)


def test_a_parking_lot_has_the_long_way_first_and_one_across_each_bottleneck() -> None:
    plan = network_plan(topology="parking-lot:2")
    assert [(flow.sender, flow.receiver) for flow in plan.schedule.flows] == [
        ("sender", "receiver"),
        ("sender2", "receiver2"),
        ("sender3", "receiver3"),
    ]
    assert plan.bottlenecks == 2
    assert network_plan(topology="parking-lot", schedule="seven-regions").bottlenecks == 3


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ({"topology": "ring"}, "topology"),
        ({"topology": "os"}, "topology"),
        ({"topology": "../evil"}, "topology"),
        ({"topology": "parking_lot"}, "topology"),
        ({"topology": "parking-lot:1"}, "topology"),
        ({"topology": "parking-lot:99"}, "topology"),
        ({"topology": "dumbbell:2"}, "topology"),
        ({"topology": "routed"}, "topology"),
        ({"topology": "routed:9"}, "topology"),
        ({"topology": "parking-lot", "senders": "rtt=172ms"}, "topology"),
        ({"topology": "parking-lot", "reverse": "reno"}, "topology"),
        ({"topology": "parking-lot", "stack": "reno+htcp"}, ""),
        ({"reverse": ""}, "reverse"),
        ({"reverse": "quic"}, "stack"),
        ({"ip": "5"}, "ip"),
        ({"ip": "6", "mtu": "1279"}, "mtu"),
        ({"ip": "6", "senders": "mtu=1000"}, "mtu"),
        ({"ip": "6", "stack": "udt"}, "stack"),
        ({"ip": "6", "reverse": "udt"}, "stack"),
        ({"senders": "mtu=1400", "stack": "udt"}, "stack"),
        ({"background": "cbr:600Mbit"}, "background"),
        ({"background": "cbr:"}, "background"),
    ],
    ids=str,
)
def test_what_contradicts_or_means_nothing_is_refused_in_one_line(
    words: dict[str, str], option: str
) -> None:
    with refused(option):
        network_plan(**words)


def test_the_window_grows_with_the_longest_rtt_and_settings_with_it() -> None:
    near, far = network_plan(), network_plan(senders="rtt=400ms")
    assert far.path.window_bytes == 2 * near.path.rate_bps * 0.4 / 8 + near.path.buffer_bytes
    assert int(far.path.sysctl["net.core.rmem_max"]) >= far.path.window_bytes
    assert "400 ms" in far.path.sources["window_bytes"]
    assert network_plan(senders="mtu=1400").path.window_bytes == near.path.window_bytes


def test_a_window_that_was_asked_for_stays() -> None:
    assert network_plan(senders="rtt=400ms", window="1MB").path.window_bytes == 1_000_000


def test_a_topology_of_no_name_is_refused() -> None:
    with refused("topology", ""):
        network_plan(topology="")


def test_flows_are_listed_by_their_way_with_its_rtt() -> None:
    plan = network_plan(senders="rtt=172ms,mtu=1400", reverse="reno")
    assert flow_routes(plan) == [
        "sender -> receiver, RTT 117 ms, MTU 1500: flow1 reno",
        "sender2 -> receiver, RTT 172 ms, MTU 1400: flow2 reno",
        "receiver -> sender, RTT 117 ms, MTU 1500: reverse1 reno",
    ]


def test_only_a_topology_with_routers_has_the_hops_of_a_path() -> None:
    plain, routed = (
        RunRequest(path="cern", topology=topology).plan() for topology in ("dumbbell", "routed")
    )
    assert (plain.path.name, routed.path.name) == ("cern", "cern-routed")
    assert plain.path.hops == ()
    assert "hops" not in plain.path.sources
    assert "10 hops via ESnet" in routed.path.sources["hops"]
    assert routed.path.hop_names == (
        *("hop1", "hop2", "hop3", "sunnyvale.esnet", "chicago.esnet", "cern"),
        *("hop7", "hop8", "hop9"),
    )
    assert Plan.from_dict(json.loads(routed.to_json())) == routed


def test_a_path_without_any_of_it_stays_as_it_is() -> None:
    path = path_by_name("cern")
    same_path, network = resolve_network(path)
    assert same_path is path
    assert network.pairs == (("sender", "receiver"),)
