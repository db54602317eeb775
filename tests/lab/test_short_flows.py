"""Short flows in the lab: they arrive as planned, and each is a TCP connection of its own."""

from __future__ import annotations

import math

from farpath.spec.arrivals import arrivals_per_s, frames_bytes, mean_frames_bytes
from farpath.spec.plan import Plan
from tests.lab.conftest import RunPlan
from tests.support.short_flows import completion_bounds_s, ended, short_flow_plan

#: A path on which nothing else sends but 1 Mbit/s of datagrams.
IDLE = {"rate": "1Gbit", "stack": "udp:rate=1000000", "era": "modern"}


def test_on_an_idle_path_each_flow_takes_as_long_as_slow_start_from_ten_segments(
    run_plan: RunPlan,
) -> None:
    plan = short_flow_plan("tcp:3Mbit,size=25kB,most=90kB", **IDLE)
    first, again = run_plan(plan), run_plan(plan)
    assert first.data["short_flows"] == again.data["short_flows"]
    assert first.fingerprint == again.fingerprint
    frame = first.short_flows
    assert frame is not None
    windows = set()
    done = ended(frame)
    for size_bytes, completion_s in zip(done["size_bytes"], done["completion_s"], strict=True):
        least_s, most_s = completion_bounds_s(plan, size_bytes)
        assert least_s <= completion_s <= most_s, size_bytes
        windows.add(round(least_s / 0.05) - 1)
    print(f"{len(frame)} flows of {sorted(windows)} windows")
    assert windows == {1, 2, 3}
    assert frame["retransmits"].sum() == 0


def _check_load(plan: Plan, sizes_bytes: list[int]) -> None:
    """The number of flows of a Poisson process is known to the root of its mean."""
    expected = arrivals_per_s(plan) * plan.schedule.duration_s
    offered = sum(frames_bytes(plan, size) for size in sizes_bytes)
    print(f"{len(sizes_bytes)} flows of {expected:.1f}, {offered / 1e6:.2f} MB in frames")
    assert abs(len(sizes_bytes) - expected) < 4 * math.sqrt(expected)
    # Sizes up to 20 kB deviate less than their mean
    wanted = expected * mean_frames_bytes(plan)
    assert abs(offered - wanted) < 4 * math.sqrt(2 / expected) * wanted


def test_over_several_bottlenecks_the_server_sends_what_the_plan_offers_by_its_control(
    run_plan: RunPlan,
) -> None:
    plan = short_flow_plan(
        "tcp:10%,most=20kB,cc=westwood", topology="parking-lot:2", ip="6", stack="3xreno"
    )
    record = run_plan(plan)
    frame = record.short_flows
    assert frame is not None
    _check_load(plan, frame["size_bytes"].tolist())
    assert record.data["short_flows"]["congestion"] == ["westwood"]
    readback = record.data["readback"]
    sent = readback["after"]["short_flow_bytes"] - readback["before"]["short_flow_bytes"]
    asked = sum(frames_bytes(plan, size) for size in frame["size_bytes"])
    again = int(frame["retransmits"].sum()) * plan.path.frame_bytes
    late = sum(
        frames_bytes(plan, size) for size in frame.loc[frame["received_bytes"] == 0, "size_bytes"]
    )
    print(f"{sent} bytes of frames sent, {asked} asked, {again} again, {late} of late flows")
    assert 0.99 * (asked - late) <= sent <= 1.01 * (asked + again)
    assert (ended(frame)["completion_s"] >= 0.1).all()
