"""Schedules: the seven regions of the 2005 test."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.spec.schedule import SCHEDULES, seven_regions, simultaneous, staggered


def test_flows_join_one_by_one_and_the_last_to_join_is_the_first_to_leave() -> None:
    flows = seven_regions("htcp", 120.0).flows
    assert [flow.name for flow in flows] == ["flow1", "flow2", "flow3", "flow4"]
    assert [flow.start_s for flow in flows] == [0, 120, 240, 360]
    assert [flow.stop_s for flow in flows] == [960, 840, 720, 600]


def test_each_region_has_its_flows() -> None:
    regions = seven_regions("htcp", 120.0).regions()
    assert [region.number for region in regions] == [1, 2, 3, 4, 5, 6, 7]
    assert [len(region.flows) for region in regions] == [1, 2, 3, 4, 3, 2, 1]
    assert regions[4].flows == regions[2].flows == ("flow1", "flow2", "flow3")


def test_with_regions_of_two_minutes_the_test_lasts_sixteen() -> None:
    assert seven_regions("htcp", 120.0).duration_s == 16 * 60


@given(region_s=st.integers(5, 10_800))
def test_the_regions_fill_the_schedule_and_the_fourth_is_twice_as_long(region_s: int) -> None:
    schedule = seven_regions("reno", region_s)
    regions = schedule.regions()
    lengths = [region.stop_s - region.start_s for region in regions]
    assert lengths == [region_s] * 3 + [2 * region_s] + [region_s] * 3
    assert regions[0].start_s == 0
    assert regions[-1].stop_s == schedule.duration_s
    for before, after in pairwise(regions):
        assert before.stop_s == after.start_s


@pytest.mark.parametrize("region_s", [5.0, 7.0, 120.0, 10_800.0])
def test_a_flow_starts_and_ends_with_a_region(region_s: float) -> None:
    schedule = seven_regions("bic", region_s)
    edges = {region.start_s for region in schedule.regions()} | {schedule.duration_s}
    for flow in schedule.flows:
        assert {flow.start_s, flow.stop_s} <= edges


def test_every_flow_has_a_port_of_its_own_and_the_stack_asked_for() -> None:
    flows = seven_regions("scalable", 5.0).flows
    assert len({flow.port for flow in flows}) == len(flows)
    assert {flow.stack for flow in flows} == {"scalable"}
    assert {(flow.sender, flow.receiver) for flow in flows} == {("sender", "receiver")}


def test_stacks_that_differ_take_turns_among_the_four_flows() -> None:
    flows = seven_regions(["htcp", "reno"], 10.0).flows
    assert [flow.stack for flow in flows] == ["htcp", "reno", "htcp", "reno"]


def test_flows_together_are_one_region() -> None:
    schedule = simultaneous(["udt", "reno", "reno"], 30.0)
    (region,) = schedule.regions()
    assert region.flows == ("flow1", "flow2", "flow3")
    assert (region.start_s, region.stop_s, schedule.duration_s) == (0.0, 30.0, 30.0)
    assert len({flow.port for flow in schedule.flows}) == 3


def test_joining_flows_come_a_region_apart_and_stay() -> None:
    schedule = staggered(["htcp", "reno"], 30.0)
    assert [region.flows for region in schedule.regions()] == [("flow1",), ("flow1", "flow2")]
    assert schedule.duration_s == 60.0


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_is_known_by_its_name(name: str) -> None:
    assert SCHEDULES[name](["reno"], 5.0).name == name
