"""Labels: stacks and flows as they were asked for, in their order and number."""

from __future__ import annotations

import pytest

from farpath.planning.request import RunRequest
from farpath.report.figures.run_over_time import title
from farpath.spec.labels import flow_label, stacks_label


@pytest.mark.parametrize(
    ("stack", "schedule", "label"),
    [
        ("reno+bbr", "together", "reno + bbr"),
        ("bbr+reno", "joining", "bbr + reno"),
        ("bbr+cubic+2xreno", "together", "bbr + cubic + 2xreno"),
        ("reno+bbr+reno", "together", "reno + bbr + reno"),
        ("2xreno", "together", "2xreno"),
        ("cubic", "together", "cubic"),
        ("htcp", "seven-regions", "htcp"),
        ("htcp+bbr", "seven-regions", "htcp + bbr"),
        ("htcp+bbr+reno", "seven-regions", "htcp + bbr + reno"),
        ("fast:alpha=100+reno", "together", "fast:alpha=100 + reno"),
    ],
)
def test_stacks_are_named_in_the_order_and_number_of_the_flows(
    stack: str, schedule: str, label: str
) -> None:
    plan = RunRequest(rtt="50ms", stack=stack, schedule=schedule).plan()
    assert stacks_label(plan.schedule) == label
    assert title(plan).startswith(f"custom path, RTT 50 ms: {label}, today's hosts, ")


def test_a_flow_is_called_by_its_name_and_its_stack() -> None:
    plan = RunRequest(stack="reno+bbr", schedule="together").plan()
    assert [flow_label(flow) for flow in plan.schedule.flows] == ["flow1 reno", "flow2 bbr"]
