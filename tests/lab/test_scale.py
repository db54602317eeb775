"""Many flows, small windows: what the limits allow runs, in the memory that it was given."""

from __future__ import annotations

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
    peak_bytes = record.data["provenance"]["cost"]["peak_memory_bytes"]
    assert plan.settings.memory_bytes / 4 < peak_bytes < plan.settings.memory_bytes


def test_a_window_smaller_than_the_receiver_wakes_for_limits_its_flow(run_plan: RunPlan) -> None:
    plan = RunRequest(
        stack="reno", schedule="together", rate="100Mbit", rtt="20ms", window="65536", region="5s"
    ).plan()
    flows = run_plan(plan).samples.flows
    windows_bps = 8 * plan.path.window_bytes / (plan.path.rtt_ms / 1e3)
    # Whole segments, and what the receiver has not been woken for, are missing from a window.
    assert 0.8 * windows_bps < flows["throughput_bps"].max() <= 1.02 * windows_bps
