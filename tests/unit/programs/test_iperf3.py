"""iperf3: what a flow of TCP must have had, by its report and its samples."""

from __future__ import annotations

import dataclasses
import json

import pytest

from farpath.base.errors import CheckFailedError
from farpath.planning.request import RunRequest
from farpath.programs.iperf3.program import check_segments, check_window
from farpath.record.record import Samples
from farpath.spec.disk import Disk
from farpath.spec.plan import Plan


def _check_segments(plan: Plan, segment_bytes: int) -> None:
    report = {"start": {"tcp_mss_default": segment_bytes}, "intervals": [], "end": {}}
    for flow in plan.schedule.all_flows:
        check_segments(flow, json.dumps(report), plan)


@pytest.mark.parametrize(("ip", "segment_bytes"), [("4", 1448), ("4", 1460), ("6", 1428)])
def test_segments_as_large_as_the_mtu_allows_are_accepted(ip: str, segment_bytes: int) -> None:
    plan = RunRequest(path="cern", ip=ip, reverse="reno").plan()
    _check_segments(plan, segment_bytes)


@pytest.mark.parametrize(("ip", "segment_bytes"), [("6", 1448), ("4", 1428), ("4", 536)])
def test_segments_of_another_size_fail_the_run(ip: str, segment_bytes: int) -> None:
    plan = RunRequest(path="cern", ip=ip).plan()
    with pytest.raises(CheckFailedError, match=f"flow1 sent segments of {segment_bytes} bytes"):
        _check_segments(plan, segment_bytes)


def check_windows(samples: Samples, plan: Plan) -> None:
    """Check the window of every flow."""
    for flow in plan.schedule.all_flows:
        check_window(flow, samples.flows[samples.flows["flow"] == flow.name], plan)


def _with_windows(samples: Samples, plan: Plan, part: float) -> Samples:
    window = int(plan.path.window_bytes * part)
    return dataclasses.replace(samples, flows=samples.flows.assign(snd_wnd_bytes=window))


@pytest.mark.parametrize("part", [0.995, 1.0, 1.005])
def test_the_window_asked_for_is_accepted(samples: Samples, plan: Plan, part: float) -> None:
    check_windows(_with_windows(samples, plan, part), plan)


@pytest.mark.parametrize("part", [0.5, 0.85, 1.02, 2.0])
def test_another_window_fails_the_run(samples: Samples, plan: Plan, part: float) -> None:
    with pytest.raises(CheckFailedError, match=r"flow1 was offered a window of \d+ bytes"):
        check_windows(_with_windows(samples, plan, part), plan)


@pytest.mark.parametrize(
    ("part", "accepted"), [(0.5, False), (0.63, True), (1.0, True), (1.02, False)]
)
def test_a_host_that_joins_segments_may_offer_less_of_the_window_and_never_more(
    samples: Samples, plan: Plan, part: float, accepted: bool
) -> None:
    joining = dataclasses.replace(plan, offloads=("gso", "gro", "checksum"))
    if accepted:
        check_windows(_with_windows(samples, plan, part), joining)
    else:
        with pytest.raises(CheckFailedError, match="offered a window"):
            check_windows(_with_windows(samples, plan, part), joining)


def _slowed(samples: Samples, factor: float) -> Samples:
    flows = samples.flows
    return dataclasses.replace(
        samples, flows=flows.assign(throughput_bps=flows["throughput_bps"] * factor)
    )


def test_a_flow_that_carried_little_need_not_have_seen_the_whole_window(
    samples: Samples, plan: Plan
) -> None:
    slow = _slowed(_with_windows(samples, plan, 0.5), 0.01)
    check_windows(slow, plan)
    with pytest.raises(CheckFailedError, match="offered a window"):
        check_windows(_slowed(_with_windows(samples, plan, 1.5), 0.01), plan)


def test_a_window_may_stay_smaller_where_the_program_waits_for_its_disk(
    samples: Samples, plan: Plan
) -> None:
    written = dataclasses.replace(plan, sink=Disk(40_000_000, 0))
    check_windows(_with_windows(samples, plan, 0.5), written)
    with pytest.raises(CheckFailedError, match="offered a window"):
        check_windows(_with_windows(samples, plan, 1.5), written)
