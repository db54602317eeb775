"""Who sends to whom: what texts mean, which flows run where, and what is refused."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.analysis.published import published_beside
from farpath.base.errors import BadInputError
from farpath.planning.memory import GUEST_BASE_BYTES, GUEST_BYTES_PER_WINDOW_BYTE
from farpath.planning.network import flow_routes, resolve_network
from farpath.planning.path_files import path_by_name
from farpath.planning.path_options import resolve_path
from farpath.planning.request import RunRequest
from farpath.planning.rules import check_plan
from farpath.planning.senders import parse_senders
from farpath.record.identity import _asked
from farpath.spec.hosts import Sender
from farpath.spec.plan import Plan
from farpath.spec.settings import Settings
from farpath.spec.window import offered_window_bytes, receive_buffer_bytes, window_of

PATH = resolve_path(rtt="117ms", rate="622Mbit", mtu="9000")


def plan_of(**words: str) -> Plan:
    """The plan of a run on that path, its flows all at once if not said otherwise."""
    texts = {"rtt": "117ms", "rate": "622Mbit", "stack": "reno", "schedule": "together"} | words
    return RunRequest(**texts).plan()


def test_each_word_is_a_sender_and_what_it_leaves_out_is_the_paths() -> None:
    assert parse_senders("rtt=172ms mtu=1500,rtt=0.2s mtu=3000", PATH) == (
        Sender("sender2", 172.0, 9000),
        Sender("sender3", 200.0, 1500),
        Sender("sender4", 117.0, 3000),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "SENDERS is empty"),
        ("rtt=50ms", "at least the path's, 117 ms"),
        ("rtt=1h", "SENDERS: rtt is '1h'"),
        ("mtu=9001", "SENDERS: mtu is '9001'"),
        ("mtu=100", "SENDERS: mtu is '100'"),
        ("172ms", "a sender is rtt=172ms, mtu=1500"),
        ("rtt=172ms,rtt=180ms", "a sender is rtt=172ms"),
        ("rtt=172ms, mtu=1500", "a sender is rtt=172ms"),
        ("rate=10Mbit", "a sender is rtt=172ms"),
        (" ".join(["rtt=172ms"] * 17), "17 further senders: at most 16"),
    ],
)
def test_what_is_no_sender_is_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_senders(text, PATH)
    assert words in caught.value.message
    assert "\n" not in caught.value.message


def test_an_mtu_above_the_paths_is_refused_with_the_paths() -> None:
    path = resolve_path(rtt="117ms")
    with pytest.raises(BadInputError, match="at most the path's, 1500"):
        parse_senders("mtu=9000", path)


def test_one_stack_alone_is_sent_by_each_sender_and_several_are_taken_in_turn() -> None:
    alone = plan_of(senders="rtt=172ms rtt=172ms").schedule.flows
    assert [(flow.sender, flow.stack) for flow in alone] == [
        ("sender", "reno"), ("sender2", "reno"), ("sender3", "reno"),
    ]  # fmt: skip
    four = plan_of(senders="rtt=172ms", stack="reno+htcp+2xbic").schedule.flows
    assert [flow.sender for flow in four] == ["sender", "sender2", "sender", "sender2"]
    assert {flow.receiver for flow in four} == {"receiver"}


def test_a_sender_without_a_flow_is_refused() -> None:
    with pytest.raises(BadInputError, match="3 senders and 2 flows"):
        plan_of(senders="rtt=172ms rtt=172ms", stack="reno+htcp")


def test_reverse_flows_last_as_long_as_the_schedule_and_are_no_part_of_what_is_measured() -> None:
    schedule = plan_of(reverse="2xreno", senders="rtt=172ms", region="30s").schedule
    assert [(flow.sender, flow.receiver) for flow in schedule.reverse] == [
        ("receiver", "sender"), ("receiver", "sender2"),
    ]  # fmt: skip
    assert {(flow.start_s, flow.stop_s) for flow in schedule.reverse} == {(0.0, 30.0)}
    assert [region.flows for region in schedule.regions()] == [("flow1", "flow2")]
    ports = [flow.port for flow in schedule.all_flows]
    assert len(set(ports)) == len(ports)


def test_a_parking_lot_has_the_long_way_first_and_one_across_each_bottleneck() -> None:
    plan = plan_of(topology="parking-lot:2")
    assert [(flow.sender, flow.receiver) for flow in plan.schedule.flows] == [
        ("sender", "receiver"), ("sender2", "receiver2"), ("sender3", "receiver3"),
    ]  # fmt: skip
    assert plan.bottlenecks == 2
    assert plan_of(topology="parking-lot", schedule="seven-regions").bottlenecks == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"topology": "ring"}, "TOPOLOGY is 'ring': it must be dumbbell, parking-lot"),
        ({"topology": "os"}, "TOPOLOGY is 'os'"),
        ({"topology": "../evil"}, "TOPOLOGY is '../evil'"),
        ({"topology": "parking_lot"}, "TOPOLOGY is 'parking_lot'"),
        ({"topology": "parking-lot:1"}, "parking-lot:2 to parking-lot:8"),
        ({"topology": "parking-lot:99"}, "parking-lot:2 to parking-lot:8"),
        ({"topology": "dumbbell:2"}, "TOPOLOGY is 'dumbbell:2'"),
        ({"topology": "parking-lot", "senders": "rtt=172ms"}, "with TOPOLOGY=dumbbell"),
        ({"topology": "parking-lot", "reverse": "reno"}, "with TOPOLOGY=dumbbell"),
        ({"topology": "parking-lot", "stack": "reno+htcp"}, "4 senders and 2 flows"),
        ({"reverse": ""}, "REVERSE is ''"),
        ({"reverse": "quic"}, "'quic'"),
        ({"ip": "5"}, "IP is '5': it must be 4 or 6"),
        ({"ip": "6", "mtu": "1279"}, "IP=6 needs at least 1280"),
        ({"ip": "6", "senders": "mtu=1000"}, "IP=6 needs at least 1280"),
        ({"ip": "6", "stack": "udt"}, "udt runs over IPv4 only"),
        ({"ip": "6", "reverse": "udt"}, "udt runs over IPv4 only"),
        ({"senders": "mtu=1400", "stack": "udt"}, "give udt:mss=1400"),
        ({"background": "cbr:600Mbit"}, "at most 90%"),
        ({"background": "cbr:"}, "BACKGROUND: cbr is ''"),
    ],
    ids=str,
)  # fmt: skip
def test_what_contradicts_or_means_nothing_is_refused_in_one_line(
    words: dict[str, str], said: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        plan_of(**words)
    assert said in caught.value.message
    assert "\n" not in caught.value.message


def test_the_rules_of_a_plan_refuse_what_the_front_door_refuses() -> None:
    plan = plan_of()
    for change in (
        {"topology": "os"},
        {"topology": "parking-lot"},
        {"bottlenecks": 2},
        {"ip_version": 5},
        {"senders": (Sender("sender2", 1.0, 1500),)},
        {"senders": (Sender("mallory", 200.0, 1500),)},
    ):
        with pytest.raises(BadInputError):
            check_plan(dataclasses.replace(plan, **change))


def test_the_window_grows_with_the_longest_rtt_and_settings_with_it() -> None:
    near, far = plan_of(), plan_of(senders="rtt=400ms")
    assert far.path.window_bytes == 2 * 622_000_000 * 0.4 / 8 + near.path.buffer_bytes
    assert int(far.path.sysctl["net.core.rmem_max"]) >= far.path.window_bytes
    assert "400 ms" in far.path.sources["window_bytes"]
    assert plan_of(senders="mtu=1400").path.window_bytes == near.path.window_bytes


def test_a_window_that_was_asked_for_stays() -> None:
    assert plan_of(senders="rtt=400ms", window="1MB").path.window_bytes == 1_000_000


def test_memory_is_for_every_flow_of_both_directions() -> None:
    one, more = plan_of(), plan_of(stack="3xreno", reverse="2xreno")
    window_bytes = GUEST_BYTES_PER_WINDOW_BYTE * one.path.window_bytes
    assert one.settings.memory_bytes == GUEST_BASE_BYTES + window_bytes
    assert more.settings.memory_bytes == GUEST_BASE_BYTES + 5 * window_bytes


def test_with_mixed_mtus_each_flow_is_offered_the_window_or_more() -> None:
    plan = plan_of(mtu="9000", senders="mtu=1500")
    large, small = (window_of(plan, flow) for flow in plan.schedule.flows)
    assert small == plan.path.window_bytes
    assert 1.3 * small < large < 1.5 * small


@given(
    window_bytes=st.integers(65_536, 1 << 29),
    mtu_bytes=st.integers(576, 9000),
    ip_version=st.sampled_from([4, 6]),
)
def test_a_receive_buffer_gives_the_window_that_it_is_for(
    window_bytes: int, mtu_bytes: int, ip_version: int
) -> None:
    buffer_bytes = receive_buffer_bytes(window_bytes, mtu_bytes, ip_version)
    offered = offered_window_bytes(buffer_bytes, mtu_bytes, ip_version)
    assert window_bytes <= offered <= window_bytes + 1


def test_packets_that_a_receiver_expects_at_first_get_half_of_its_buffer() -> None:
    assert receive_buffer_bytes(1_000_000, 588) == 2_000_000
    assert receive_buffer_bytes(1_000_000, 589) > 2_000_000


def test_a_receiver_wakes_several_times_in_a_small_window_too() -> None:
    assert plan_of().settings.wake_bytes == Settings.wake_bytes
    assert plan_of(window="65536").settings.wake_bytes == 8_192


def test_a_topology_of_no_name_is_refused() -> None:
    with pytest.raises(BadInputError, match="TOPOLOGY is ''"):
        plan_of(topology="")


def test_published_numbers_are_beside_no_other_hosts_or_ip() -> None:
    cern = {"rtt": None, "rate": None, "path": "cern", "schedule": "seven-regions"}
    assert published_beside(plan_of(**cern)) is not None  # type: ignore[arg-type]
    for more in ({"senders": "rtt=200ms"}, {"reverse": "reno"}, {"ip": "6"},
                 {"topology": "parking-lot"}):  # fmt: skip
        plan = plan_of(**cern, **more)  # type: ignore[arg-type]
        assert published_beside(plan) is None
        assert plan.path.name.startswith("cern-")
        named = dataclasses.replace(plan, path=dataclasses.replace(plan.path, name="cern"))
        assert published_beside(named) is None


def test_a_plan_with_all_of_it_comes_back_equal_from_its_json() -> None:
    for words in ({"senders": "rtt=172ms mtu=1400", "reverse": "reno", "ip": "6"},
                  {"topology": "parking-lot:2"}):  # fmt: skip
        plan = plan_of(**words)
        assert Plan.from_dict(json.loads(plan.to_json())) == plan


def test_a_plan_of_before_there_was_any_of_it_reads_and_is_the_same_run() -> None:
    plan = plan_of()
    data = json.loads(plan.to_json())
    for name in ("senders", "ip_version", "bottlenecks"):
        del data[name]
    del data["schedule"]["reverse"]
    assert Plan.from_dict(data) == plan
    said = json.dumps(_asked(plan))
    assert not any(name in said for name in ("senders", "ip_version", "bottlenecks", "reverse"))


def test_flows_are_listed_by_their_way_with_its_rtt() -> None:
    plan = plan_of(senders="rtt=172ms,mtu=1400", reverse="reno")
    assert flow_routes(plan) == [
        "sender -> receiver, RTT 117 ms, MTU 1500: flow1 reno",
        "sender2 -> receiver, RTT 172 ms, MTU 1400: flow2 reno",
        "receiver -> sender, RTT 117 ms, MTU 1500: reverse1 reno",
    ]


def test_a_path_without_any_of_it_stays_as_it_is() -> None:
    path = path_by_name("cern")
    found, asked = resolve_network(path)
    assert found is path
    assert asked.pairs == (("sender", "receiver"),)
