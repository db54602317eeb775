"""The list of studies, and what their results need."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from farpath.base.errors import MachineLacksError
from farpath.runs.analyses import has_measures, require_packages, results_module
from farpath.runs.experiment import experiment_names, load_experiment
from tests.support.study_runs import ALL_ANALYSES, HOST_ANALYSES

#: Not around the 2005 test: of stacks that it did not know, or of the test itself.
LATER = ("bbr3", "bbr-cases", "bbr-queue", "bbr-share", "dctcp-queue", "l4s", "window-scan")


def test_all_measured_experiments_but_those_of_the_host_lab_are_of_the_companion() -> None:
    measured = [name for name in experiment_names() if has_measures(name)]
    assert sorted(measured) == sorted((*ALL_ANALYSES, *LATER))


def test_experiments_of_the_host_lab_are_not_of_the_companion_and_run_there_alone() -> None:
    for name in HOST_ANALYSES:
        sets = load_experiment(name).sets
        assert set(sets) == {"whole", "quick"}
        assert all(run.on_host for runs in sets.values() for run in runs)


def test_missing_packages_of_the_results_are_named_before_any_run() -> None:
    packages = {"math": "python", "no_such_module": "no-such-package"}
    with pytest.raises(MachineLacksError, match=r"^no-such-package is missing, .* pip install no-"):
        require_packages(SimpleNamespace(PACKAGES=packages))
    require_packages(SimpleNamespace())
    inference = results_module("inference")
    assert inference is not None
    require_packages(inference)
