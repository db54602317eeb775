"""The rules of a plan: what its parts refuse of each other."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.base.errors import BadInputError
from farpath.mechanisms.dropper.mechanism import parse_droppers
from farpath.planning.planner import make_plan
from farpath.planning.request import RunRequest
from farpath.planning.rules import check_plan
from farpath.spec import trace
from farpath.spec.hosts import Sender
from farpath.spec.plan import Plan
from farpath.spec.schedule import simultaneous, staggered
from tests.support.paths import LONG
from tests.support.plans import network_plan, with_droppers, with_trace


@pytest.mark.parametrize(
    ("interval_s", "message"),
    [(0.0005, "0.5 ms"), (0.0101, "10.1 ms"), (11.0, "11000 ms"), (-0.01, "-10 ms")],
)
def test_an_interval_must_be_whole_milliseconds(
    tracing: Plan, interval_s: float, message: str
) -> None:
    with pytest.raises(BadInputError, match=f"trace is '{message}': it must be whole milliseconds"):
        with_trace(tracing, interval_s)


def test_an_interval_that_a_flow_may_see_no_tick_of_is_refused() -> None:
    plan = make_plan(LONG, staggered(["reno", "reno"], 5.0), seed=1, clock="virtual")
    with pytest.raises(BadInputError, match=r"'2\.501 s': that is more than half of the 5 s"):
        with_trace(plan, 2.501)
    with_trace(plan, 2.5)


def test_a_trace_of_too_many_samples_is_refused() -> None:
    plan = make_plan(LONG, simultaneous(["reno"] * 10, 600.0), seed=1, clock="virtual")
    with pytest.raises(BadInputError, match=r"6,000,000 samples.* at most 2,500,000"):
        with_trace(plan, 0.001)


def test_a_trace_needs_a_flow_of_the_kernels_tcp_and_says_which_have_none() -> None:
    only = make_plan(LONG, simultaneous(["udt"], 5.0), seed=1, clock="virtual")
    with pytest.raises(BadInputError, match=r"trace: no flow uses the kernel's TCP \(udt\)"):
        with_trace(only, 0.01)
    mixed = with_trace(make_plan(LONG, simultaneous(["udt", "reno"], 5.0), 1, "virtual"), 0.01)
    assert [flow.name for flow in trace.flows(mixed)] == ["flow2"]
    assert trace.untraced(mixed) == ["flow1 has no trace: udt is none of the kernel's TCP"]


def test_droppers_that_can_have_nothing_to_drop_are_refused(plan: Plan) -> None:
    for text, complaint in {
        "at:40s": "flow1 ends after 40 s",
        "at:35s,flow=flow2": "flow2 ends after 35 s",
        "packets:1000000000": "in 40 s the path carries at most some",
        "every:4e9": "give a smaller number, or a longer region",
        "every:9,flow=flow3": "there is no flow flow3; it must be one of flow1, flow2",
        "burst:0.5,0.5": "give rarer bursts, or a shorter region",
    }.items():
        with pytest.raises(BadInputError, match=complaint):
            with_droppers(plan, parse_droppers(text))


def test_a_flow_whose_packets_are_too_small_to_count_is_refused() -> None:
    words = {"rtt": "20ms", "region": "5s", "schedule": "together", "mtu": "9000"}
    small = RunRequest(**words, stack="udt:mss=4500")
    with pytest.raises(BadInputError, match="packets of 4500 bytes, but only those above half"):
        small.changed(drop="every:10").plan()
    small.changed(drop="every:10,direction=back").plan()
    RunRequest(**words, stack="udt:mss=4501", drop="every:10").plan()


def test_the_rules_of_a_plan_refuse_what_the_front_door_refuses() -> None:
    plan = network_plan()
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


def test_jitter_of_hosts_is_refused_where_udt_spaces_its_packets() -> None:
    with pytest.raises(BadInputError, match="udt spaces its packets itself"):
        RunRequest(rtt="20ms", stack="udt", era="2004:jitter=12us").plan()
