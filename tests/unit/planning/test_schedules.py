"""SCHEDULE's text."""

from __future__ import annotations

import pytest

from farpath.planning.request import RunRequest
from farpath.report.repeat import command_of
from tests.support.refusals import refused


def test_flows_that_join_start_the_given_time_apart_and_send_together_for_a_region() -> None:
    plan = RunRequest(rtt="20ms", stack="reno+bbr", schedule="joining:3s", region="10s").plan()
    times_s = [(flow.start_s, flow.stop_s) for flow in plan.schedule.flows]
    assert times_s == [(0, 13), (3, 13)]


def test_flows_that_join_without_a_time_start_a_region_apart_as_ever() -> None:
    plans = [
        RunRequest(rtt="20ms", stack="2xreno", schedule=text, region="10s").plan()
        for text in ("joining", "joining:10s")
    ]
    assert plans[0] == plans[1]


@pytest.mark.parametrize("text", ["together:3s", "joining:", "joining:0s", "joining:1.5s", "soon"])
def test_another_schedule_is_refused(text: str) -> None:
    with refused("schedule"):
        RunRequest(rtt="20ms", schedule=text).plan()


def test_the_command_that_repeats_a_run_has_the_time_between_starts() -> None:
    plan = RunRequest(rtt="20ms", stack="reno+bbr", schedule="joining:3s", region="10s").plan()
    assert command_of(plan) == (
        "farpath run --rtt=20ms --stack=reno+bbr --schedule=joining:3s --region=10s"
    )
