"""Tuning: how long a path takes to be full, and a measure for each mechanism of a run."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.analysis import flow_metrics
from farpath.analysis.studies import tuning
from farpath.analysis.studies.measure import select_measures
from farpath.planning.experiment import QUICK, load_experiment
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
    for recorded in write_recorded_runs(tmp_path, tuning.EXPERIMENT, QUICK):
        plan = recorded.record.plan
        # The records have half the path's rate, which is more than a slow bus carries.
        part = plan.path.rate_bps / 2 / flow_metrics.full_bps(plan)
        for time in select_measures(tuning.measures([recorded]), tuning.FILL_TIME):
            if part < tuning.FULL_PART:
                assert time.value == pytest.approx(plan.schedule.duration_s)
                assert time.note == "never full: the length of the run"
            else:
                assert (time.value, time.note) == (1.0, "")
