"""Sweeps: every combination of some values of a run's options, each with several seeds.

Runs that are recorded are not made again, so that a sweep which was stopped continues.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.analysis.record_set import RUNS, Member, RecordSet, make_record_set
from farpath.analysis.results import RunSummary, run_summary
from farpath.base.errors import BadInputError, FarpathError, LabFailedError
from farpath.base.files import make_directory
from farpath.base.options import options_of
from farpath.lab.machine import available_cores, cores_each, limited_cores
from farpath.lab.pool import Job, JobEvent, Pool
from farpath.lab.run import Outcome, run
from farpath.lab.user_parts import BuiltParts
from farpath.planning.request import RunRequest, parse_seed
from farpath.record.identity import plan_identity
from farpath.record.record import load_record
from farpath.spec.settings import HOST

if TYPE_CHECKING:
    from farpath.spec.plan import Plan

#: The most runs of a sweep: a month of a core with runs of ten minutes.
MOST_RUNS = 5_000
#: What starting a guest takes, in virtual seconds of traffic at the rate below.
START_COST_S, COST_RATE_BPS = 10.0, 100e6


@dataclass(frozen=True)
class SweepRun:
    """One run of a sweep: its request and plan, and its values of the swept options, as typed."""

    request: RunRequest
    plan: Plan
    values: Mapping[str, str]

    @property
    def name(self) -> str:
        """The values and the seed, for people."""
        return _name(self.values, self.plan.seed)


def _name(values: Mapping[str, str], seed: int) -> str:
    parts = [f"{name}={value}" for name, value in values.items()]
    return ", ".join([*parts, f"seed {seed}"])


@dataclass(frozen=True)
class Sweep:
    """The runs of all combinations of values.

    ``axes``: the values of each swept option, as typed. ``runs``: all, the last option and then the
    seed changing fastest.
    """

    axes: Mapping[str, tuple[str, ...]]
    runs: tuple[SweepRun, ...]


def plan_sweep(base: RunRequest, axes: Mapping[str, tuple[str, ...]], seeds: int = 1) -> Sweep:
    """Plan all runs of a sweep.

    ``base``: the options that all runs share. ``axes``: the values of each swept option. ``seeds``:
    how many seeds each combination gets, from that of ``base`` on. Raises BadInputError for the
    first run that is not allowed, and for two that are the same.
    """
    _check_count(axes, seeds)
    first = parse_seed(base.seed)
    runs: dict[str, SweepRun] = {}
    for combination in itertools.product(*axes.values()):
        values = dict(zip(axes, combination, strict=True))
        for seed in range(first, first + seeds):
            request = dataclasses.replace(base, **{**values, "seed": str(seed)})
            plan = request.plan(user_parts=BuiltParts(request.lab))
            identity = plan_identity(plan)
            if identity in runs:
                raise BadInputError(
                    f"'{runs[identity].name}' and '{_name(values, seed)}' are the same run: leave "
                    "one of the values out"
                )
            runs[identity] = SweepRun(request, plan, values)
    return Sweep(axes, tuple(runs.values()))


def _check_count(axes: Mapping[str, tuple[str, ...]], seeds: int) -> None:
    variables = {option.name: option.variable for option in options_of(RunRequest)}
    for name, values in axes.items():
        if not values:
            raise BadInputError(f"{variables[name]} has no value: give one or several")
    if "seed" in axes:
        raise BadInputError("SEED has several values: a sweep takes SEEDS=3, from SEED on")
    if seeds not in range(1, MOST_RUNS + 1):
        raise BadInputError(
            f"SEEDS is '{seeds}': it must be a whole number from 1 to {MOST_RUNS:,}"
        )
    count = math.prod([seeds, *map(len, axes.values())])
    if count > MOST_RUNS:
        raise BadInputError(
            f"the sweep has {count:,} runs: at most {MOST_RUNS:,} are made: take fewer values"
        )


@dataclass(frozen=True)
class SweptRun:
    """A run of a sweep that is recorded: its plan and summary; whether it was recorded before."""

    run: SweepRun
    member: Member
    cached: bool


@dataclass(frozen=True)
class SweepOutcome:
    """The recorded runs of a sweep in its order, and by name the errors of those that failed."""

    sweep: Sweep
    directory: FilePath
    runs: tuple[SweptRun, ...]
    failures: Mapping[str, FarpathError] = field(default_factory=dict)

    @property
    def records(self) -> RecordSet:
        """The records as a set, for tables."""
        return make_record_set(self.directory, [swept.member for swept in self.runs], RUNS)

    def failed_error(self, message_of: Callable[[FarpathError], str] = str) -> LabFailedError:
        """Return the error of a sweep in which runs failed; ``message_of`` spells their options."""
        return LabFailedError(
            f"{len(self.failures)} of {len(self.sweep.runs)} runs failed; what was made is kept, "
            "and the same call tries the rest again",
            "\n".join(f"{name}: {message_of(error)}" for name, error in self.failures.items()),
        )


def make_sweep(
    sweep: Sweep,
    out: FilePath,
    at_once: int | None = None,
    watch: Callable[[JobEvent[tuple[Outcome, RunSummary]]], None] = lambda _event: None,
) -> SweepOutcome:
    """Make the runs of a sweep that have no record in ``out``, without figures and pages.

    ``at_once``: how many at once, by default one on each core, and one of the host lab. A run that
    fails does not keep the others from being made. ``watch``: called in this process whenever a
    run begins or ends. An interruption leaves nothing half made. Raises as ``make_directory``.
    """
    if at_once is None:
        on_host = any(run_.plan.settings.lab == HOST for run_ in sweep.runs)
        at_once = 1 if on_host else available_cores()
    make_directory(out)
    cores = cores_each(min(at_once, len(sweep.runs)))
    jobs = [
        Job(partial(_make, run_.request, out, cores), _cost_s(run_.plan)) for run_ in sweep.runs
    ]
    with Pool(at_once) as pool:
        results = pool.run(jobs, watch)
    swept, failures = [], {}
    for run_, result in zip(sweep.runs, results, strict=True):
        if result.error is not None:
            failures[run_.name] = result.error
            continue
        outcome, summary = result.unwrap()
        swept.append(SweptRun(run_, Member(run_.plan, summary), outcome.cached))
    return SweepOutcome(sweep, out, tuple(swept), failures)


def make_run(request: RunRequest, out: FilePath, cores: int) -> Outcome:
    """Make one run on so many cores, without figure and page, or find its record."""
    plan = request.plan(user_parts=BuiltParts(request.lab))
    with limited_cores(cores):
        return run(plan, out, False, lambda _event: None)


def _make(request: RunRequest, out: FilePath, cores: int) -> tuple[Outcome, RunSummary]:
    """Make one run in a worker process and summarise it."""
    outcome = make_run(request, out, cores)
    return outcome, run_summary(load_record(outcome.directory))


def _cost_s(plan: Plan) -> float:
    """Return what a run takes, relative to others: its time and its bits."""
    return START_COST_S + plan.schedule.duration_s * plan.rates.mean / COST_RATE_BPS
