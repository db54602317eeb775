"""The maker of run sets: runs without a record are made, several at once, and each is measured.

A run that has its record is not made again, so that a set which was interrupted continues. A run
that fails does not keep the others from being made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path as FilePath
from typing import Any, Generic, TypeVar

from farpath.base.errors import FarpathError, LabFailedError
from farpath.base.files import make_directory
from farpath.lab.machine import available_cores, cores_each, limited_cores
from farpath.lab.pool import Job, JobEvent, JobResult, Pool, PoolProgress
from farpath.lab.run import Finish, Outcome, run
from farpath.platforms import platform_of
from farpath.record.record import load_record
from farpath.runs.run_set import PlannedRun, RunSet

M = TypeVar("M")
#: Spells an error's message, with options as the user typed them.
Spelled = Callable[[FarpathError], str]


#: Makes one run's record in a directory on so many cores, or finds it there: a function of the run,
#: the directory, the number of cores, and the value of the pool's context if it has one.
Make = Callable[..., Outcome]


@dataclass(frozen=True)
class MadeRun(Generic[M]):
    """A run that is recorded: its record's directory, fingerprint and measured value.

    ``cached``: whether it was recorded before. ``wall_s``: real seconds, all of the job.
    """

    run: PlannedRun
    record: FilePath
    fingerprint: str
    value: M
    cached: bool = False
    wall_s: float = 0.0


@dataclass(frozen=True)
class FailedRun:
    """A run that failed, the error, and the real seconds that it took."""

    run: PlannedRun
    error: FarpathError
    wall_s: float = 0.0


@dataclass(frozen=True)
class RunEvent(Generic[M]):
    """A run of a set begins (``result`` is None) or has ended."""

    run: PlannedRun
    result: MadeRun[M] | FailedRun | None
    progress: PoolProgress


@dataclass(frozen=True)
class MadeSet(Generic[M]):
    """The results of a set's runs, in its order."""

    run_set: RunSet
    directory: FilePath
    results: tuple[MadeRun[M] | FailedRun, ...]

    @property
    def runs(self) -> tuple[MadeRun[M], ...]:
        """The runs that are recorded."""
        return tuple(result for result in self.results if isinstance(result, MadeRun))

    @property
    def failed(self) -> tuple[FailedRun, ...]:
        """The runs that failed."""
        return tuple(result for result in self.results if isinstance(result, FailedRun))

    def failures(self, spelled: Spelled = str) -> dict[str, str]:
        """Return why runs failed, by their names."""
        return {result.run.name: spelled(result.error) for result in self.failed}

    def failed_error(self, spelled: Spelled = str) -> LabFailedError:
        """Return the error of a set in which runs failed."""
        return LabFailedError(
            f"{len(self.failed)} of {len(self.results)} runs failed; what was made is kept, "
            "and the same call tries the rest again",
            "\n".join(f"{name}: {message}" for name, message in self.failures(spelled).items()),
        )


def make_one(
    run_: PlannedRun,
    out: FilePath,
    cores: int,
    *,
    force: bool = False,
    finish: Finish | None = None,
    watch: Callable[[dict[str, Any]], None] = lambda _event: None,
) -> Outcome:
    """Make one run on so many cores, or find its record; arguments as ``farpath.lab.run.run``."""
    with limited_cores(cores):
        return run(
            *(run_.plan, out, force, watch, run_.images), finish=finish, request=run_.request
        )


def make_runs(
    run_set: RunSet,
    out: FilePath,
    at_once: int | None = None,
    watch: Callable[[RunEvent[M]], None] = lambda _event: None,
    *,
    measure: Callable[[Any], M] | Sequence[Callable[[Any], M]],
    make: Make | Sequence[Make] = make_one,
    load: Callable[[FilePath], Any] = load_record,
    pool: Pool | None = None,
    fatal: tuple[type[FarpathError], ...] = (),
) -> MadeSet[M]:
    """Make the runs of a set that have no record in ``out``, and measure each by its record.

    ``at_once``: how many at once, by default one on each core, and one of the host lab. ``watch``:
    called in this process whenever a run begins or ends. ``measure``: called in a worker with a
    run's record, which is loaded once. ``make``: makes a run. Of both there is one for all runs, or
    one for each. ``load``: reads a record from its directory. ``pool``: of the caller's, for
    several sets after each other. ``fatal``: errors that end everything at once. An interruption
    leaves nothing half made. Raises as ``make_directory``.
    """
    if pool is None:
        one_by_one = any(platform_of(run_.plan).measures_cpu for run_ in run_set.runs)
        with Pool(at_once or (1 if one_by_one else available_cores())) as own:
            return make_runs(
                *(run_set, out, None, watch),
                measure=measure,
                make=make,
                load=load,
                pool=own,
                fatal=fatal,
            )
    make_directory(out)
    count = len(run_set.runs)
    measures = [measure] * count if callable(measure) else measure
    makes = [make] * count if callable(make) else make
    cores = cores_each(min(pool.cores, count))
    jobs = [
        Job(partial(_measured, make_, load, measure_, run_, out, cores), run_.cost_s)
        for run_, make_, measure_ in zip(run_set.runs, makes, measures, strict=True)
    ]

    def tell(event: JobEvent[tuple[Outcome, str, M]]) -> None:
        run_ = run_set.runs[event.index]
        result = None if event.result is None else _result(run_, event.result)
        watch(RunEvent(run_, result, event.progress))

    results = pool.run(jobs, tell, fatal)
    return MadeSet(run_set, out, tuple(map(_result, run_set.runs, results)))


def _measured(
    make: Make,
    load: Callable[[FilePath], Any],
    measure: Callable[[Any], M],
    run_: PlannedRun,
    out: FilePath,
    cores: int,
    *context: Any,
) -> tuple[Outcome, str, M]:
    """Make one run in a worker process, and measure it."""
    outcome = make(run_, out, cores, *context)
    record = load(outcome.directory)
    return outcome, record.fingerprint, measure(record)


def _result(run_: PlannedRun, result: JobResult[tuple[Outcome, str, M]]) -> MadeRun[M] | FailedRun:
    if result.error is not None:
        return FailedRun(run_, result.error, result.wall_s)
    outcome, fingerprint, value = result.unwrap()
    return MadeRun(
        run_, outcome.directory, fingerprint, value, outcome.cached, wall_s=result.wall_s
    )
