"""Tuning: how long a path takes to be full, and a measure for each mechanism of a run."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from experiments.tuning import analysis as tuning
from farpath.metrics.measures import Measure, select_measures
from farpath.runs.experiment import QUICK, WHOLE, load_experiment
from tests.support.study_runs import write_recorded_runs


def test_a_run_of_several_mechanisms_is_measured_for_each(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, tuning.EXPERIMENT, QUICK)
    measures = tuning.measures(done)
    runs = load_experiment(tuning.EXPERIMENT).runs(QUICK)
    named = [(run.request.path, name) for run in runs for name in run.mechanisms]
    times = select_measures(measures, tuning.FILL_TIME)
    assert sorted((time.about["path"], time.about["mechanism"]) for time in times) == sorted(named)
    assert len(named) > len(runs)


def test_a_path_that_is_never_full_has_the_run_s_length(tmp_path: FilePath) -> None:
    measures: dict[str, list[Measure]] = {tuning.FILL_TIME: [], tuning.THROUGHPUT: []}
    for recorded in write_recorded_runs(tmp_path, tuning.EXPERIMENT, WHOLE):
        for measure in tuning.measures([recorded]):
            measures[measure.quantity].append(measure)
    seen = {
        (each.about["path"], each.about["mechanism"]): (each.value, each.note)
        for each in measures[tuning.FILL_TIME]
    }
    # Made-up records have half of the path's rate, which is more than a bus in short bursts carries
    never = (60.0, "never full: the length of the run")
    assert seen["land-speed", "without-burst"] == (1.0, "")
    assert seen["land-speed", "tuned"] == never
    assert {value for (path, _), value in seen.items() if path == "geneva-chicago"} == {never}
    rates_mbps = {"land-speed": 5000, "geneva-chicago": 500}
    for each in measures[tuning.THROUGHPUT]:
        assert each.value == pytest.approx(rates_mbps[each.about["path"]])
