"""Disks: the slowest stage of a transfer, and what was published of it."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from experiments.disks import analysis as disks
from farpath.metrics.measures import select_measures
from farpath.metrics.published_measures import published_measures
from farpath.planning.request import RunRequest
from farpath.runs.experiment import WHOLE
from farpath.spec.plan import Plan
from tests.support.study_runs import write_recorded_runs


def plan_of(source: str | None, sink: str | None) -> Plan:
    """Ten seconds over a card and a path of 1 Gbit/s."""
    return RunRequest(
        rtt="6ms", rate="1Gbit", stack="reno_2004", time="10s", era="2004", source=source, sink=sink
    ).plan()


PAYLOAD_MBPS = 1e3 * 1448 / 1514


@pytest.mark.parametrize(
    ("source", "sink", "mbps"),
    [
        (None, None, PAYLOAD_MBPS),
        ("disk:50MB/s", None, 400),
        ("disk:50MB/s", "disk:40MB/s", 320),
        ("disk:50MB/s", "disk:60MB/s", 400),
        # 600 MB hold what comes in 10 s above 50 MB/s; 200 MB are full after 2.87 s
        (None, "disk:50MB/s,writeback=800MB", PAYLOAD_MBPS),
        (None, "disk:50MB/s,writeback=200MB", (1600 + 4000 - 2.5 * PAYLOAD_MBPS) / 7.5),
    ],
)
def test_the_slowest_stage_bounds_a_transfer_once_write_back_is_full(
    source: str | None, sink: str | None, mbps: float
) -> None:
    assert disks.slowest_bps(plan_of(source, sink), 2.5) / 1e6 == pytest.approx(mbps)


def test_a_stage_that_a_run_has_not_is_none() -> None:
    assert list(disks.stages_bps(plan_of(None, "disk:50MB/s"))) == ["host", "path", "disk write"]


def test_transfers_stand_beside_what_was_published_of_the_same_disks(tmp_path: FilePath) -> None:
    measures = disks.measures(write_recorded_runs(tmp_path, disks.EXPERIMENT, WHOLE))
    throughputs = select_measures(measures, disks.THROUGHPUT)
    beside = [each.published for each in throughputs if each.published]
    assert sorted(beside) == [f"disk-{number}" for number in range(1, 9)]
    assert set(beside) <= set(published_measures())
    (bbftp,) = [each for each in throughputs if each.published == "disk-8"]
    # Flow 1 of a synthetic record has half of the path's rate
    assert bbftp.value == pytest.approx(500)
    assert bbftp.theory == pytest.approx(PAYLOAD_MBPS)
    assert (bbftp.about["slowest"], bbftp.about["disk write"]) == ("host", "1320")


def test_waiting_is_of_the_run_and_of_all_programs(tmp_path: FilePath) -> None:
    runs = write_recorded_runs(tmp_path, disks.EXPERIMENT, WHOLE)
    measures = disks.measures(runs)
    (waits,) = select_measures(measures, disks.RECEIVER_WAITS, write="323")
    # Of a synthetic record: half of the time
    assert waits.value == 0.5
