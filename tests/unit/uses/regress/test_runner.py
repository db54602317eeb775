"""The runner of a suite: trials that fail before their guest starts."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import BadInputError
from farpath.uses.regress.runner import Kernel, TrialJob, run_trials
from farpath.uses.regress.suite import START_COST_S, Case, Trial, trials


def impossible(name: str) -> TrialJob:
    """A trial on a path that no plan can have."""
    options = {"rtt": name, "stack": "{stack}", "region": "5s"}
    no_images: Any = None
    return TrialJob(Trial("reno", Case(name, "", ("tcp",), options, ())), Kernel("k", no_images))


def test_failed_trials_are_results_in_the_order_of_the_jobs(
    tmp_path: FilePath, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = run_trials([impossible("one"), impossible("two")], tmp_path, 1)
    assert (first.job.trial.name, second.job.trial.name) == ("reno/one", "reno/two")
    assert isinstance(first.failure, BadInputError)
    assert "'one'" in first.failure.message
    said = capsys.readouterr().err
    assert "regress: reno/two failed: RTT is 'two'" in said
    assert said.splitlines()[-1] == "regress: 2 of 2 runs"


def test_a_trial_costs_the_seconds_of_its_schedule_and_the_start_of_its_guest() -> None:
    costs = {trial.case.name: trial.cost_s for trial in trials(("reno",))}
    assert costs["seven-regions"] == START_COST_S + 8 * 8 == max(costs.values())
    assert costs["one-loss"] == START_COST_S + 30
