"""Outlook: the quantities of table 1, and of runs without regions all but F."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pytest

from experiments.outlook import analysis as outlook
from farpath.planning.request import RunRequest
from farpath.runs.experiment import QUICK, WHOLE, RecordedRun, load_experiment
from tests.support.study_runs import write_recorded_runs, write_run


def test_a_seven_region_test_has_f_and_streams_have_none(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, outlook.EXPERIMENT, QUICK)
    values: dict[tuple[str, str], dict[str, float]] = {}
    for measure in outlook.measures(done):
        key = (measure.about["schedule"], measure.about["stack"])
        values.setdefault(key, {})[measure.quantity] = measure.value
    rates_bps = {recorded.run.request.stack: recorded.run.plan.path.rate_bps for recorded in done}
    constant = {outlook.STABILITY: pytest.approx(0), outlook.RTT: pytest.approx(0)}
    # Flow k of made-up records has 1/2k of the path's rate throughout
    mbps = rates_bps["africa"] / 1e6
    regions = [1 / 2, 3 / 4, 11 / 12, 25 / 24, 25 / 24, 11 / 12, 3 / 4, 1 / 2]
    seven = values["seven-regions", "africa"]
    assert seven[outlook.MEAN] == pytest.approx(mbps * sum(regions) / 8)
    assert seven[outlook.RTT] == pytest.approx(0)
    # Of four flows: the square of the sum over four times the sum of squares
    shares = [1 / number for number in range(1, 5)]
    assert seven[outlook.FAIRNESS] == pytest.approx(
        sum(shares) ** 2 / 4 / sum(share**2 for share in shares)
    )
    assert values["seven-regions", "westwood"] == seven
    one = rates_bps["reno_2004"] / 1e6 / 2
    assert values["together", "reno_2004"] == {outlook.MEAN: pytest.approx(one), **constant}
    sixteen = one * sum(1 / number for number in range(1, 17))
    assert values["together", "16xreno_2004"] == {
        outlook.MEAN: pytest.approx(sixteen), **constant,
    }  # fmt: skip


def test_one_flow_among_streams_has_its_part_of_a_fair_share(tmp_path: FilePath) -> None:
    runs = load_experiment(outlook.EXPERIMENT).runs(WHOLE)
    mixed = next(run for run in runs if run.request.stack == "8xreno_2004+htcp_2004")
    record = write_run(tmp_path / "mixed", mixed)
    # The ninth flow of made-up records has a ninth of the first
    shares = [1 / number for number in range(1, 10)]
    assert outlook.share(record) == pytest.approx(shares[-1] / (sum(shares) / 9))
    measures = outlook.measures([RecordedRun(mixed, record)])
    assert [each.quantity for each in measures][-1] == outlook.SHARE
    alone = next(run for run in runs if run.request.stack == "16xreno_2004")
    assert outlook.share(write_run(tmp_path / "alone", alone)) is None


def test_at_10_gbits_one_packet_is_lost_and_streams_have_a_part_of_the_window_each() -> None:
    runs = [
        run for run in load_experiment(outlook.EXPERIMENT).runs(WHOLE)
        if run.request.path == "cern-10g"
    ]  # fmt: skip
    flows = {run.request.stack: len(run.plan.schedule.flows) for run in runs}
    assert flows == {
        "reno_2004": 1, "africa": 1, "westwood": 1, "4xreno_2004": 4, "8xreno_2004": 8,
    }  # fmt: skip
    for run in runs:
        (dropper,) = run.plan.droppers
        assert (dropper.kind, len(dropper.numbers)) == ("at", 1)
        path = run.plan.path
        product_bytes = path.rate_bps * path.rtt_ms / 8e3
        windows_bytes = flows[run.request.stack] * path.window_bytes
        assert windows_bytes == pytest.approx(1.1 * product_bytes, rel=0.01)


def test_a_run_of_a_time_has_no_regions(tmp_path: FilePath) -> None:
    run = load_experiment(outlook.EXPERIMENT).runs(QUICK)[0]
    request = dataclasses.replace(run.request, region=RunRequest().region, time="20s")
    request = dataclasses.replace(request, schedule=RunRequest().schedule)
    timed = dataclasses.replace(run, request=request, plan=request.plan())
    measures = outlook.measures([RecordedRun(timed, write_run(tmp_path / "one", timed))])
    assert {measure.about["schedule"] for measure in measures} == {"together"}
    assert outlook.FAIRNESS not in {measure.quantity for measure in measures}
