"""Compare: a suite's runs on one kernel against a baseline, or against another kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from farpath.regress.baseline import Baseline, BaselineRun, baseline_run
from farpath.regress.runner import Kernel, TrialJob, TrialResult, run_trials
from farpath.regress.suite import Trial
from farpath.regress.verdict import CaseState, CaseVerdict, judge


@dataclass(frozen=True)
class Comparison:
    """Verdicts on all trials; ``before`` and ``after``: what was compared, for people.

    ``records``: of each trial's run before and after, as far as they are there.
    """

    before: str
    after: str
    verdicts: tuple[CaseVerdict, ...]
    records: Mapping[str, tuple[FilePath | None, FilePath | None]]


def against_baseline(
    trials: Sequence[Trial], side: Kernel, baseline: Baseline, out: FilePath, at_once: int
) -> Comparison:
    """Each trial once, with seed 1."""
    made = run_trials([TrialJob(trial, side) for trial in trials], out, at_once)
    verdicts = [_judged(each, baseline.runs.get(each.job.trial.name)) for each in made]
    records = {each.job.trial.name: (None, each.record) for each in made}
    return Comparison(baseline.name, side.name, tuple(verdicts), records)


def kernel_against_kernel(
    trials: Sequence[Trial], base: Kernel, head: Kernel, out: FilePath, at_once: int, seeds: int
) -> Comparison:
    """Each trial on both; where metrics differ, the base with further seeds.

    These give the bounds within which a difference says nothing.
    """
    both = [TrialJob(trial, side) for trial in trials for side in (base, head)]
    made = run_trials(both, out, at_once)
    pairs = list(zip(trials, made[::2], made[1::2], strict=True))
    unlike = [
        trial
        for trial, before, after in pairs
        if not (before.failure or after.failure) and before.metrics != after.metrics
    ]
    further = run_trials(
        [TrialJob(trial, base, seed) for trial in unlike for seed in range(2, seeds + 1)],
        out,
        at_once,
        f"runs for the bounds of {len(unlike)} that differ",
    )
    verdicts = tuple(
        _of_pair(before, after, [each for each in further if each.job.trial == trial])
        for trial, before, after in pairs
    )
    records = {trial.name: (before.record, after.record) for trial, before, after in pairs}
    return Comparison(base.name, head.name, verdicts, records)


def _of_pair(
    before: TrialResult, after: TrialResult, further: Sequence[TrialResult]
) -> CaseVerdict:
    name = after.job.trial.name
    for each in (before, *further):
        if each.failure is not None:
            why = f"{each.job.side.name}, seed {each.job.seed}: {each.failure.message}"
            return CaseVerdict(name, CaseState.FAILED, why=why)
    by_seed = [each.metrics for each in (before, *further)]
    return _judged(after, baseline_run(before.fingerprint, by_seed))


def _judged(made: TrialResult, before: BaselineRun | None) -> CaseVerdict:
    """The verdict on a run, also on one that failed."""
    name = made.job.trial.name
    if made.failure is not None:
        return CaseVerdict(name, CaseState.FAILED, why=made.failure.message, wall_s=made.wall_s)
    verdict = judge(name, before, made.fingerprint, made.metrics)
    return replace(verdict, wall_s=made.wall_s)


def baseline_of(
    trials: Sequence[Trial], side: Kernel, name: str, made: Mapping[str, str | int], out: FilePath,
    at_once: int, seeds: int,
) -> Baseline:  # fmt: skip
    """What trials give on a kernel: with seed 1, and bounds by so many seeds.

    Raises the failure of a run that fails: a baseline has none.
    """
    jobs = [TrialJob(trial, side, seed) for trial in trials for seed in range(1, seeds + 1)]
    runs = run_trials(jobs, out, at_once)
    for each in runs:
        if each.failure is not None:
            where = f"{each.job.trial.name}, seed {each.job.seed}"
            raise type(each.failure)(f"{where}: {each.failure.message}", each.failure.detail)
    found = {
        trial.name: baseline_run(runs[place].fingerprint, [
            each.metrics for each in runs[place : place + seeds]
        ])
        for trial, place in zip(trials, range(0, len(runs), seeds), strict=True)
    }  # fmt: skip
    return Baseline(name, made, found)
