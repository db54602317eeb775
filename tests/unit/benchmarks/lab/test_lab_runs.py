"""Figures of runs in the lab: values by hand, nothing is timed."""

from __future__ import annotations

import pytest

from benchmarks.lab import lab_runs
from benchmarks.lab.figure import Cost
from farpath.record.record import Samples
from farpath.spec.plan import Plan
from tests.support.queues import queue_samples


def test_delivered_bytes_hold_the_short_last_interval(samples: Samples, plan: Plan) -> None:
    first = 10 * 50_000_000 + 30 * 25_000_000 + 7_000_000
    second = 30 * 25_000_000 + 1_000_000
    assert lab_runs.delivered_bytes(samples.flows, plan) == pytest.approx(first + second)


def _measured(wall_s: float, cpu_s: float) -> lab_runs.RunMeasurement:
    """A quick run that started for 2 s and sent a tenth of what a full one would."""
    sent = lab_runs.lossless_path().rate_bps // 8 * 96
    queue = queue_samples((0, 0, 0), (40, 0, sent))
    return lab_runs.RunMeasurement(
        Cost(1.0, cpu_s), wall_s, 1.0, 2.0, 100 << 20, queue, 164.0022, 164.0017
    )


def test_a_quick_run_is_extrapolated_and_says_so() -> None:
    figures = lab_runs.full_run_figures(_measured(wall_s=10.0, cpu_s=5.0), region_s=5.0)
    wall, cpu = figures["full_run_wall"], figures["full_run_cpu"]
    assert wall.value == pytest.approx(2 + 80)
    assert cpu.value == pytest.approx(41)
    assert wall.estimated
    assert "extrapolated" in wall.how


def test_a_full_run_is_taken_as_it_is() -> None:
    figures = lab_runs.full_run_figures(_measured(wall_s=130.0, cpu_s=85.0), region_s=120.0)
    assert (figures["full_run_wall"].value, figures["full_run_wall"].reached) == (130.0, False)
    assert (figures["full_run_cpu"].value, figures["full_run_cpu"].reached) == (85.0, True)
    assert not figures["full_run_wall"].estimated


def test_base_rtt_error_is_in_microseconds() -> None:
    error = lab_runs.run_figures(_measured(1.0, 1.0))["base_rtt_error"]
    assert error.value == pytest.approx(0.5)
    assert error.reached


def test_udts_speed_counts_the_schedule_without_the_start() -> None:
    run = _measured(wall_s=42.0, cpu_s=1.0)  # 2 s of start, then 80 virtual seconds
    speed = lab_runs.udt_figures(run, region_s=10.0)["udt_speed"]
    assert speed.value == pytest.approx(2.0)
    assert speed.reached
