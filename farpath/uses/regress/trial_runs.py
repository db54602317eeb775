"""Runs of a suite's trials: several at once, and their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path as FilePath

from farpath.lab.artifacts.images import Images
from farpath.runs.make import FailedRun, MadeRun, make_runs
from farpath.runs.run_set import PlannedRun, RunSet
from farpath.runs.run_set_progress import MADE, progress_printer
from farpath.uses.regress.metrics import metrics_of
from farpath.uses.regress.suite import Trial

#: A trial's run with its metrics, by name.
MadeTrial = MadeRun[dict[str, float]]
#: The same, or the error of a run that failed.
TrialResult = MadeTrial | FailedRun


@dataclass(frozen=True)
class Kernel:
    """A kernel to run on, and its name for people; ``one_guest``: one for all sites of a run."""

    name: str
    images: Images
    one_guest: bool = False

    def in_one_guest(self) -> Kernel:
        """Return this kernel with one guest for all sites of a run."""
        return Kernel(f"{self.name} in one guest", self.images, one_guest=True)

    def with_side(self, side: str, other: Kernel) -> Kernel:
        """Return this kernel with another at one side of the path."""
        return Kernel(
            f"{other.name} at the {side}", replace(self.images, sides={side: other.images})
        )


@dataclass(frozen=True)
class TrialJob:
    """A trial to be run with a seed on a kernel."""

    trial: Trial
    kernel: Kernel
    seed: int = 1

    @property
    def run(self) -> PlannedRun:
        """The run of the trial."""
        plan = self.trial.plan(self.seed)
        plan = plan.in_one_guest() if self.kernel.one_guest else plan
        images, name = self.kernel.images, self.kernel.name
        request = self.trial.seeded(self.seed).typed
        return PlannedRun(self.trial.name, plan, images=images, kernel=name, request=request)


def run_trials(
    jobs: Sequence[TrialJob], out: FilePath, at_once: int, label: str = MADE
) -> tuple[TrialResult, ...]:
    """Run all jobs, several at once, and print progress; results are in the order of ``jobs``.

    ``label`` names the jobs for people. Raises as ``make_runs``.
    """
    measures = [partial(metrics_of, extra=job.trial.case.extra_metrics) for job in jobs]
    run_set = RunSet(tuple(job.run for job in jobs))
    watch = progress_printer("regress", label)
    return make_runs(run_set, out, at_once, watch, measure=measures).results


def made(result: TrialResult, name: str) -> MadeTrial:
    """Return a result that is there; raise the error of a failed run, which ``name`` precedes."""
    if isinstance(result, FailedRun):
        error = result.error
        raise type(error)(f"{name}: {error.message}", error.detail)
    return result
