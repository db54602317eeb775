"""The comparison of two kernels: which runs are made, and what becomes of those that fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import LabFailedError
from farpath.lab.artifacts.images import Images
from farpath.runs.make import FailedRun, MadeRun
from farpath.uses.regress import kernel_comparison
from farpath.uses.regress.suite import trials
from farpath.uses.regress.trial_runs import Kernel, TrialJob, TrialResult
from farpath.uses.regress.verdict import CaseState

NOWHERE = FilePath("/nowhere")
IMAGES = Images(NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE, {})
BASE, HEAD = Kernel("base", IMAGES), Kernel("head", IMAGES)
TRIALS = trials(["reno"], ["one-loss", "slow-start"])


def runner(mbps_of: Callable[[TrialJob], float]) -> Callable[..., tuple[TrialResult, ...]]:
    """Stands for the maker of runs: each has a throughput, or fails without one."""

    def run_trials(jobs: Sequence[TrialJob], *_others: object) -> tuple[TrialResult, ...]:
        results: list[TrialResult] = []
        for job in jobs:
            mbps, run = mbps_of(job), job.run
            if mbps:
                metrics = {"throughput_mbps": mbps}
                results.append(MadeRun(run, FilePath(run.kernel), f"{mbps}", metrics))
            else:
                results.append(FailedRun(run, LabFailedError("no boot")))
        return tuple(results)

    return run_trials


def test_a_metric_out_of_the_bounds_of_seeds_is_a_change_of_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def mbps_of(job: TrialJob) -> float:
        changed = job.trial.case.name == "one-loss" and job.kernel.name != "base"
        return 50.0 if changed and "receiver" not in job.kernel.name else 90.0 + job.seed / 100

    monkeypatch.setattr(kernel_comparison, "run_trials", runner(mbps_of))
    compared = kernel_comparison.compare_kernels(TRIALS, BASE, HEAD, NOWHERE, 1, seeds=3)
    verdicts = {verdict.case: verdict for verdict in compared.verdicts}
    assert verdicts["one-loss"].state == CaseState.CHANGED
    assert verdicts["one-loss"].origin == "the sender"
    assert verdicts["slow-start"].state == CaseState.IDENTICAL
    assert compared.records["reno/one-loss"] == (FilePath("base"), FilePath("head"))


def test_a_run_that_fails_is_a_verdict_and_ends_the_making_of_a_baseline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only_base = runner(lambda job: float(job.kernel is BASE))
    monkeypatch.setattr(kernel_comparison, "run_trials", only_base)
    compared = kernel_comparison.compare_kernels(TRIALS, BASE, HEAD, NOWHERE, 1, seeds=3)
    assert {verdict.why for verdict in compared.verdicts} == {"no boot"}
    assert compared.records["reno/one-loss"] == (FilePath("base"), None)
    with pytest.raises(LabFailedError) as raised:
        kernel_comparison.make_baseline(TRIALS, HEAD, "name", {}, NOWHERE, 1, 2)
    assert raised.value.message == "reno/slow-start, seed 1: no boot"
    baseline = kernel_comparison.make_baseline(TRIALS, BASE, "name", {}, NOWHERE, 1, 2)
    assert set(baseline.runs) == {"reno/one-loss", "reno/slow-start"}
