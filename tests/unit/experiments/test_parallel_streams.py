"""Parallel streams: what windows, bus and path allow them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path as FilePath

import pytest

from experiments.parallel_streams import analysis as parallel_streams
from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.planning.request import RunRequest
from farpath.runs.experiment import QUICK, WHOLE, RecordedRun, load_experiment
from farpath.spec.bus import Bus
from tests.support.study_runs import write_recorded_runs, write_run

PAYLOAD_PART = 1448 / 1514


@pytest.mark.parametrize(
    ("words", "expected_bps"),
    [
        ({"window": "1MB"}, 4 * 8e6 / 0.07),
        ({"window": "100MB"}, 1e10 * PAYLOAD_PART),
        ({"window": "100MB", "era": "2004:card=10Gbit"}, 1e10 * PAYLOAD_PART),
        (
            {"window": "100MB", "era": "2004:card=10Gbit,bus=133MHz,mmrbc=4096"},
            Bus("133MHz", 4096).rate_bps(1514) * PAYLOAD_PART,
        ),
    ],
    ids=["windows", "path", "card", "bus"],
)
def test_the_least_of_windows_bus_and_path_is_expected(
    words: dict[str, str], expected_bps: float
) -> None:
    request = RunRequest(
        rtt="70ms", rate="10Gbit", stack="4xreno_2004", schedule="together",
        **{"era": "modern", **words},
    )  # fmt: skip
    assert parallel_streams.expected_bps(request.plan()) == pytest.approx(expected_bps)


def values_by_run(recorded: Iterable[RecordedRun]) -> dict[str, dict[str, Measure]]:
    """The measures of each run by quantity."""
    by_run: dict[str, dict[str, Measure]] = {}
    for measure in parallel_streams.measures(recorded):
        by_run.setdefault(measure.condition, {})[measure.quantity] = measure
    return by_run


def test_a_run_has_the_sum_the_mean_and_the_spread_of_its_streams(tmp_path: FilePath) -> None:
    by_run = values_by_run(write_recorded_runs(tmp_path, parallel_streams.EXPERIMENT, QUICK))
    assert len(by_run) == len(load_experiment(parallel_streams.EXPERIMENT).runs(QUICK)) == 4
    for measures in by_run.values():
        streams = int(measures[parallel_streams.SUM].about["streams"])
        # Stream k of made-up records has 1/2k of the path's rate
        total_mbps = 1e4 / 2 * sum(1 / number for number in range(1, streams + 1))
        assert measures[parallel_streams.SUM].value == pytest.approx(total_mbps)
        assert measures[parallel_streams.EACH].value == pytest.approx(total_mbps / streams)
        spread = measures[parallel_streams.SPREAD].value
        assert spread == 0 if streams == 1 else spread > 0
        assert measures[parallel_streams.DEVIATION].value == pytest.approx(0, abs=1e-6)


def test_streams_the_other_way_are_counted_apart(tmp_path: FilePath) -> None:
    runs = load_experiment(parallel_streams.EXPERIMENT).runs(WHOLE)
    (both,) = [run for run in runs if run.plan.schedule.reverse]
    record = write_run(tmp_path / "both", both)
    ((condition, measures),) = values_by_run([RecordedRun(both, record)]).items()
    assert condition == "Pittsburgh to Sunnyvale at 10 Gbit/s, 32 x 2 MB, offload, both ways"
    forward = measures[parallel_streams.SUM]
    assert (forward.about["reverse"], forward.theory, forward.published) == ("32", None, "sc-3")
    assert forward.value == pytest.approx(5e3 * sum(1 / number for number in range(1, 33)))
    # Made-up records have no rows of them
    assert measures[parallel_streams.REVERSE].value == 0
    assert measures[parallel_streams.REVERSE].published == "sc-4"


def test_seconds_without_the_first_quarter_are_summed_over_flows_of_any_direction(
    tmp_path: FilePath,
) -> None:
    (both,) = [
        run
        for run in load_experiment(parallel_streams.EXPERIMENT).runs(WHOLE)
        if run.plan.schedule.reverse
    ]
    record = write_run(tmp_path / "both", both)
    # A reverse flow under the name of the one that the record has rows of
    reverse = dataclasses.replace(both.plan.schedule.reverse[0], name="flow2")
    sums = flow_metrics.sums_bps(record, (both.plan.schedule.flows[0], reverse))
    assert sums.tolist() == pytest.approx([7.5e9] * 23)


def test_rows_of_hosts_with_offload_and_without_do_not_read_alike(tmp_path: FilePath) -> None:
    booth = [
        run
        for run in load_experiment(parallel_streams.EXPERIMENT).runs(WHOLE)
        if (run.request.path, run.request.stack) == ("booth", "40xreno_2004")
    ]
    recorded = [
        RecordedRun(run, write_run(tmp_path / str(index), run)) for index, run in enumerate(booth)
    ]
    conditions = {measure.condition for measure in parallel_streams.measures(recorded)}
    assert conditions == {
        "Back to back at 10 Gbit/s, 40 x 0.104 MB",
        "Back to back at 10 Gbit/s, 40 x 0.104 MB, offload",
    }
