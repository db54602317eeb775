"""The list of studies."""

from __future__ import annotations

from farpath.analysis.studies.registry import ANALYSES, HOST_ANALYSES
from farpath.planning.experiment import load_experiment


def test_the_companion_is_made_of_the_experiments_that_have_an_analysis() -> None:
    assert load_experiment("companion").parts == tuple(ANALYSES)


def test_experiments_of_the_host_lab_are_not_of_the_companion_and_run_there_alone() -> None:
    for name in HOST_ANALYSES:
        sets = load_experiment(name).sets
        assert set(sets) == {"whole", "quick"}
        assert all(run.on_host for runs in sets.values() for run in runs)
