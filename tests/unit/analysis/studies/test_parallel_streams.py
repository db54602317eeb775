"""Parallel streams: what windows, bus and path allow them."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.analysis.studies import parallel_streams
from farpath.analysis.studies.measure import RecordedRun
from farpath.planning.experiment import QUICK, WHOLE, load_experiment
from farpath.planning.request import RunRequest
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


def test_a_run_has_the_sum_the_mean_and_the_spread_of_its_streams(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, parallel_streams.EXPERIMENT, QUICK)
    measures = parallel_streams.measures(done)
    by_run = [measures[at : at + 3] for at in range(0, len(measures), 3)]
    assert len(by_run) == len(load_experiment(parallel_streams.EXPERIMENT).runs(QUICK)) == 4
    for total, each, spread in by_run:
        streams = int(total.about["streams"])
        assert total.value == pytest.approx(each.value * streams)
        assert spread.value == 0 if streams == 1 else spread.value > 0


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
