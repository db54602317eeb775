"""The runner of a suite: several trials at once, and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path as FilePath

from farpath.base.errors import FarpathError
from farpath.base.files import make_directory
from farpath.lab.artifacts.images import Images
from farpath.lab.machine import cores_each, limited_cores
from farpath.lab.pool import Job, Pool
from farpath.lab.pool_progress import progress_printer
from farpath.uses.regress.metrics import metrics_of
from farpath.uses.regress.suite import Trial


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


@dataclass(frozen=True)
class TrialResult:
    """The result of a job: its record's directory, or why there is none."""

    job: TrialJob
    fingerprint: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    record: FilePath | None = None
    failure: FarpathError | None = None
    wall_s: float = 0.0


def run_trial(job: TrialJob, out: FilePath, cores: int) -> TrialResult:
    """Run one job on so many cores, or find its record in ``out``; raises the errors of the run."""
    from farpath.lab.run import run
    from farpath.record.record import load_record

    plan = job.trial.plan(job.seed)
    if job.kernel.one_guest:
        plan = plan.in_one_guest()
    with limited_cores(cores):
        outcome = run(plan, out, False, lambda _event: None, job.kernel.images)
    record = load_record(outcome.directory)
    metrics = metrics_of(record, job.trial.case.extra_metrics)
    return TrialResult(job, record.fingerprint, metrics, record.directory)


def run_trials(
    jobs: Sequence[TrialJob], out: FilePath, at_once: int, label: str = "runs"
) -> list[TrialResult]:
    """Run all jobs, several at once, and print progress; results are in the order of ``jobs``.

    ``label`` names the jobs for people. If this process is interrupted or killed, runs that are
    going end at once and leave nothing incomplete. Raises as ``make_directory``.
    """
    make_directory(out)
    cores = cores_each(min(at_once, len(jobs)))
    calls = [Job(partial(run_trial, job, out, cores), job.trial.cost_s) for job in jobs]
    with Pool(at_once) as pool:
        results = pool.run(
            calls, progress_printer("regress", [job.trial.name for job in jobs], label)
        )
    return [
        replace(result.value or TrialResult(job, failure=result.error), wall_s=result.wall_s)
        for job, result in zip(jobs, results, strict=True)
    ]
