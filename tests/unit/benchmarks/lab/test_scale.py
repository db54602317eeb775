"""Runs at scale: what they count, and what is refused."""

from __future__ import annotations

import json

import pytest

from benchmarks.lab import lab_runs, scale
from benchmarks.lab.figure import Cost
from benchmarks.lab.report import render
from farpath.planning.request import RunRequest


def _row() -> scale.ScaleRow:
    """Ten virtual seconds in 20 real ones after a start of 2, at 1 Gbit/s and 1500 bytes."""
    request = RunRequest(stack="reno", schedule="together", rate="1Gbit", rtt="20ms", region="10s")
    plan = request.plan()
    run = lab_runs.RunMeasurement(Cost(1448e6, 10.0), 22.0, 1.0, 2.0, 200 << 20, [])
    return scale.scale_row(scale.make_variables(request), plan, run)


def test_a_run_at_scale_counts_packets_time_and_memory() -> None:
    row = _row()
    assert row.speed == pytest.approx(0.5)
    assert row.packets_per_cpu_s == pytest.approx(1e5)
    # A guest for each of two sites
    assert row.estimate_over_measured == pytest.approx(2 * (512 + 64) / 200)


def test_requests_at_scale_are_runs_of_ten_to_thirty_seconds() -> None:
    for request in scale.RUNS:
        plan = request.plan()
        assert 10 <= plan.schedule.duration_s <= 30


def test_what_no_machine_can_run_is_refused_with_its_range() -> None:
    beyond = [request for request in scale.LARGER if request.rate == "100Gbit"]
    (refusal,) = [scale.refusal(request) for request in beyond]
    assert refusal is not None
    assert "10 Gbit/s" in refusal


def test_the_report_has_runs_at_scale_and_what_larger_requests_are_told() -> None:
    figures = {
        "quick": False,
        "machine": {"cpu_model": "a CPU", "cores": 2, "kernel": "6.1", "load_before": 0.5},
        "figures": {},
        "scale": {
            "runs": [_row().as_dict()],
            "larger": {"RATE=100Gbit": "too fast " * 20, "RTT=5s": None},
        },
    }
    lines = render(json.loads(json.dumps(figures))).splitlines()
    assert "0.5 x 10 s 100 k 210 Mbytes 1.21 Gbytes 5.76 x" in [" ".join(x.split()) for x in lines]
    assert "    not refused: it starts on this machine" in lines
    assert max(map(len, lines)) <= 100
