"""A flow of a number of bytes is done when slow start and the bottleneck's rate say so."""

from __future__ import annotations

import math

import pytest

from farpath.metrics.flow_summary import flows_of
from farpath.planning.request import RunRequest
from farpath.report.overview import flows_table
from farpath.spec.plan import Plan
from farpath.spec.window import segment_bytes
from tests.lab.conftest import RunPlan

#: Initial window of a connection in segments (RFC 6928).
INITIAL_WINDOW = 10


def plan_of(size: str, **options: str) -> Plan:
    return RunRequest(
        rtt="50ms", rate="100Mbit", stack="cubic", time="5s", bytes=size, **options
    ).plan()


def expected_s(plan: Plan) -> float:
    """Return how long a flow alone takes without loss.

    In slow start a window of segments goes in each round trip, and twice as many in the next;
    once a window fills the path, the rest goes at the bottleneck's rate. The acknowledgement of
    the last segment comes a round trip after it.
    """
    path = plan.path
    rtt_s, segment_s = path.rtt_ms / 1e3, 8 * path.frame_bytes / path.rate_bps
    left = math.ceil(plan.transfer_bytes / segment_bytes(path.mtu_bytes, plan.ip_version)[0])
    window, sent_s = INITIAL_WINDOW, 0.0
    while window * segment_s < rtt_s and left > window:
        left, window, sent_s = left - window, 2 * window, sent_s + rtt_s
    return sent_s + left * segment_s + rtt_s


@pytest.mark.parametrize("size", ["50kB", "1MB", "10MB"])
def test_a_flow_takes_the_rounds_of_slow_start_and_the_rest_at_the_paths_rate(
    run_plan: RunPlan, size: str
) -> None:
    record = run_plan(plan_of(size))
    (flow,) = flows_of(record)
    assert flow.completion_s is not None
    print(f"{size}: {flow.completion_s} s, expected {expected_s(record.plan):.4f} s")
    assert flow.completion_s == pytest.approx(expected_s(record.plan), rel=0.02)
    rows = record.samples.flows
    received = float((rows["throughput_bps"] * rows["interval_s"]).sum()) / 8
    assert received == pytest.approx(record.plan.transfer_bytes, abs=1)
    assert flow.throughput_bps == pytest.approx(8 * received / flow.completion_s)


def test_a_flow_whose_time_is_over_before_is_not_done(run_plan: RunPlan) -> None:
    record = run_plan(plan_of("30MB", parallel="2"))
    flows = flows_of(record)
    # Together they would need more than the time; one of them got more than half of the rate
    assert sum(flow.completion_s is None for flow in flows) == 1
    table = flows_table(flows, record.plan.transfer_bytes)
    column = table.header.index("done in s")
    shown = [row[column] for row in table.lines]
    assert shown == [
        "-" if flow.completion_s is None else f"{flow.completion_s:.3f}" for flow in flows
    ]


def test_flows_of_both_directions_end_where_cpu_takes_time_too(run_plan: RunPlan) -> None:
    record = run_plan(plan_of("50kB", reverse="reno", ip="6", clock="cpu"))
    done_s = [flow.completion_s for flow in flows_of(record)]
    assert done_s == [pytest.approx(expected_s(record.plan), rel=0.1)] * 2
