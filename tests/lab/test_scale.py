"""Many flows, small windows: what the limits allow runs, in the memory that it was given."""

from __future__ import annotations

import pytest

from farpath.planning.memory import run_bytes
from farpath.planning.request import RunRequest
from farpath.spec.schedule import MOST_FLOWS
from tests.lab.conftest import RunPlan


def test_as_many_flows_as_are_allowed_share_a_path(run_plan: RunPlan) -> None:
    # With the smallest window of all, what is reserved is mostly for the flows' programs.
    plan = RunRequest(
        stack=f"{MOST_FLOWS}xreno",
        schedule="together",
        rate="1Gbit",
        rtt="20ms",
        window="65536",
        region="5s",
    ).plan()
    record = run_plan(plan)
    carried = record.samples.flows.groupby("flow")["throughput_bps"].max()
    assert len(carried) == MOST_FLOWS
    assert (carried > 0).all()
    # The peak is that of all guests together, and each site has one.
    peak_bytes = record.data["provenance"]["cost"]["peak_memory_bytes"]
    assert run_bytes(plan) / 4 < peak_bytes < run_bytes(plan)


def test_a_window_smaller_than_the_receiver_wakes_for_limits_its_flow(run_plan: RunPlan) -> None:
    plan = RunRequest(
        stack="reno", schedule="together", rate="100Mbit", rtt="20ms", window="65536", region="5s"
    ).plan()
    flows = run_plan(plan).samples.flows
    windows_bps = 8 * plan.path.window_bytes / (plan.path.rtt_ms / 1e3)
    # Whole segments, and what the receiver has not been woken for, are missing from a window.
    assert 0.8 * windows_bps < flows["throughput_bps"].max() <= 1.02 * windows_bps


@pytest.mark.parametrize("stack", ["reno", "udp:rate=20000000"])
def test_a_flow_whose_path_drains_for_seconds_costs_no_more_than_one_of_a_short_buffer(
    run_plan: RunPlan, stack: str
) -> None:
    def cpu_s(buffer: str) -> float:
        request = RunRequest(
            stack=stack,
            schedule="together",
            rate="10Mbit",
            rtt="160ms",
            buffer=buffer,
            region="5s",
        )
        record = run_plan(request.plan())
        cost_s: float = record.data["provenance"]["cost"]["cpu_s"]
        return cost_s

    # 0.2 s of the rate and 4 s, after five seconds of slow start or at once: a sender that reads
    # the clock while it waits for that costs more than ten times as much.
    short_s, long_s = cpu_s("250kB"), cpu_s("5MB")
    print(f"{short_s:.2f} and {long_s:.2f} CPU s")
    assert long_s < 2 * short_s
