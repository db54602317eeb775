"""The comparison of a suite's runs on a kernel with a baseline, or with another kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from farpath.runs.make import FailedRun, MadeRun
from farpath.spec.hosts import SIDES
from farpath.uses.diff.question import diff_command
from farpath.uses.regress.baseline import Baseline, BaselineRun, baseline_run
from farpath.uses.regress.suite import Trial
from farpath.uses.regress.trial_runs import (
    Kernel,
    MadeTrial,
    TrialJob,
    TrialResult,
    made,
    run_trials,
)
from farpath.uses.regress.verdict import CaseState, CaseVerdict, judge


@dataclass(frozen=True)
class Comparison:
    """Verdicts on all trials.

    ``before`` and ``after``: names of both, for people. ``records``: the records of each
    trial's run before and after, as far as they exist. ``kernel``: the one that makes the run
    before again where there is only a baseline, as ``farpath diff`` takes it; empty if it is not
    another one.
    """

    before: str
    after: str
    verdicts: tuple[CaseVerdict, ...]
    records: Mapping[str, tuple[FilePath | None, FilePath | None]]
    kernel: str = ""

    def diff_of(self, verdict: CaseVerdict) -> str:
        """Return the command that finds the first packet of a changed run that differs.

        Empty of other runs, and where the run before cannot be made.
        """
        before, after = self.records.get(verdict.trial, (None, None))
        if verdict.state != CaseState.CHANGED or after is None:
            return ""
        if before is not None:
            return diff_command(before, after)
        return diff_command(after, None, self.kernel) if self.kernel else ""


def compare_with_baseline(
    trials: Sequence[Trial], kernel: Kernel, baseline: Baseline, out: FilePath, at_once: int
) -> Comparison:
    """Run each trial once, with seed 1, and compare it with a baseline."""
    results = run_trials([TrialJob(trial, kernel) for trial in trials], out, at_once)
    verdicts = [_verdict(result, baseline.runs.get(result.run.name)) for result in results]
    records = {result.run.name: (None, _record(result)) for result in results}
    source = str(baseline.made.get("source", "")).partition(" ")[0]
    is_other = kernel.images.manifests["kernel"]["source_hash"] != baseline.made["source_sha256"]
    before = source if is_other else ""
    return Comparison(baseline.name, kernel.name, tuple(verdicts), records, before)


def compare_kernels(
    trials: Sequence[Trial], base: Kernel, head: Kernel, out: FilePath, at_once: int, seeds: int
) -> Comparison:
    """Run each trial on both kernels; where metrics differ, run the base with further seeds.

    Those runs give the bounds within which a difference is not significant. Changed runs are made
    with the head at each side alone too, which tells the end that the change comes from.
    """
    jobs = [TrialJob(trial, kernel) for trial in trials for kernel in (base, head)]
    results = run_trials(jobs, out, at_once)
    pairs = list(zip(trials, results[::2], results[1::2], strict=True))
    differing = [
        trial
        for trial, before, after in pairs
        if isinstance(before, MadeRun)
        and isinstance(after, MadeRun)
        and before.value != after.value
    ]
    further_results = run_trials(
        [TrialJob(trial, base, seed) for trial in differing for seed in range(2, seeds + 1)],
        out,
        at_once,
        f"runs made for the bounds of {len(differing)} that differ",
    )
    befores = {trial.name: [before] for trial, before, _ in pairs}
    for result in further_results:
        befores[result.run.name].append(result)
    verdicts = {trial.name: _pair_verdict(befores[trial.name], after) for trial, _, after in pairs}
    changed = [trial for trial in trials if verdicts[trial.name].state == CaseState.CHANGED]
    if not (base.images.sides or head.images.sides):
        for trial, of_sides in _run_with_sides(changed, base, head, out, at_once).items():
            sides = {
                side: _pair_verdict(befores[trial], result).state
                for side, result in of_sides.items()
            }
            verdicts[trial] = replace(verdicts[trial], sides=sides)
    records = {trial.name: (_record(before), _record(after)) for trial, before, after in pairs}
    return Comparison(base.name, head.name, tuple(verdicts.values()), records)


def _run_with_sides(
    trials: Sequence[Trial], base: Kernel, head: Kernel, out: FilePath, at_once: int
) -> Mapping[str, Mapping[str, TrialResult]]:
    """Run trials with the head at each side alone; return their results by trial and side.

    Trials that run in one guest are left out.
    """
    divided = [trial for trial in trials if trial.has_sides]
    jobs = [TrialJob(trial, base.with_side(side, head)) for trial in divided for side in SIDES]
    label = f"runs made to tell which end {len(divided)} that changed come from"
    results = run_trials(jobs, out, at_once, label)
    by_trial = zip(*(results[number :: len(SIDES)] for number in range(len(SIDES))), strict=True)
    return {
        trial.name: dict(zip(SIDES, of_sides, strict=True))
        for trial, of_sides in zip(divided, by_trial, strict=True)
    }


def _pair_verdict(befores: Sequence[TrialResult], after: TrialResult) -> CaseVerdict:
    """Return the verdict on a run; ``befores``: the runs before of all seeds, the first first."""
    name = after.run.name
    made_befores: list[MadeTrial] = []
    for result in befores:
        if isinstance(result, FailedRun):
            reason = f"{result.run.kernel}, seed {result.run.plan.seed}: {result.error.message}"
            return CaseVerdict(name, CaseState.FAILED, why=reason)
        made_befores.append(result)
    return _verdict(after, baseline_of(made_befores))


def _verdict(result: TrialResult, before: BaselineRun | None) -> CaseVerdict:
    """Return the verdict on a run, which may have failed."""
    name = result.run.name
    if isinstance(result, FailedRun):
        return CaseVerdict(name, CaseState.FAILED, why=result.error.message, wall_s=result.wall_s)
    verdict = judge(name, before, result.fingerprint, result.value)
    return replace(verdict, wall_s=result.wall_s)


def _record(result: TrialResult) -> FilePath | None:
    return result.record if isinstance(result, MadeRun) else None


def baseline_of(results: Sequence[MadeTrial]) -> BaselineRun:
    """Return the baseline of a trial's runs with several seeds, of which the first is 1."""
    return baseline_run(results[0].fingerprint, [result.value for result in results])


def make_baseline(
    trials: Sequence[Trial], kernel: Kernel, name: str, provenance: Mapping[str, str | int],
    out: FilePath, at_once: int, seeds: int,
) -> Baseline:  # fmt: skip
    """Run trials on a kernel, and return the baseline: values of seed 1, bounds by all seeds.

    Raises the error of a run that fails: a baseline has no failed runs.
    """
    jobs = [TrialJob(trial, kernel, seed) for trial in trials for seed in range(1, seeds + 1)]
    results = [
        made(result, f"{result.run.name}, seed {result.run.plan.seed}")
        for result in run_trials(jobs, out, at_once)
    ]
    runs = {
        trial.name: baseline_of(results[index : index + seeds])
        for trial, index in zip(trials, range(0, len(results), seeds), strict=True)
    }
    return Baseline(name, provenance, runs)
