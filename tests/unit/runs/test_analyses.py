"""The list of studies."""

from __future__ import annotations

from farpath.runs.analyses import measured_experiments
from farpath.runs.experiment import load_experiment
from tests.support.study_runs import ALL_ANALYSES, HOST_ANALYSES

#: Not around the 2005 test: of stacks that it did not know, or of the test itself.
LATER = ("bbr3", "bbr-cases", "bbr-queue", "bbr-share", "dctcp-queue", "l4s", "window-scan")


def test_all_measured_experiments_but_those_of_the_host_lab_are_of_the_companion() -> None:
    assert sorted(measured_experiments()) == sorted((*ALL_ANALYSES, *LATER))


def test_experiments_of_the_host_lab_are_not_of_the_companion_and_run_there_alone() -> None:
    for name in HOST_ANALYSES:
        sets = load_experiment(name).sets
        assert set(sets) == {"whole", "quick"}
        assert all(run.on_host for runs in sets.values() for run in runs)
