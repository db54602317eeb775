"""The trials of a search for starvation: chosen in batches, made in the lab, and kept.

A batch depends on the trials of the batches before it alone, so that the same search makes the same
trials on any number of cores, however often it was interrupted.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.base.files import make_directory
from farpath.base.validation import validated
from farpath.lab.artifacts.images import find_images
from farpath.lab.pool import Pool
from farpath.lab.provenance import record_name
from farpath.lab.user_parts import BuiltParts
from farpath.metrics.share import fair_shares, joint_means_bps
from farpath.record.identity import plan_identity
from farpath.record.record import RECORD_FILE, Record
from farpath.runs.make import MadeRun, MadeSet, RunEvent, make_runs
from farpath.runs.run_set import PlannedRun, RunSet, planned_run
from farpath.runs.trials import distributions, load_optuna, read_trials, write_trials
from farpath.spec.settings import VIRTUAL_CLOCK
from farpath.uses.starvation.question import Starvation, Trial, command_of

#: Trials that are drawn at random before the sampler learns from them, as Optuna's default.
STARTUP_TRIALS = 10
#: Letters of a search's identity in the name of its file.
NAME_LETTERS = 10


@dataclass(frozen=True)
class Shares:
    """What the two flows of a run had; see ``Trial.shares`` and ``Trial.throughputs_bps``."""

    of_flows: tuple[float, ...] | None
    throughputs_bps: tuple[float, ...]


WatchRuns = Callable[[RunEvent[Shares]], None]
#: Makes the runs of a batch, as ``make_runs`` does.
MakeBatch = Callable[[RunSet, WatchRuns], MadeSet[Shares]]
Watch = Callable[[Trial, Sequence[Trial]], None]


def check(search: Starvation) -> str:
    """Plan the runs at the ends of the ranges; return the name of the first one's record.

    Raises BadInputError for a run that is not allowed.
    """
    requests = [search.request(corner) for corner in search.corners()]
    plans = [request.plan(user_parts=BuiltParts(request.lab)) for request in requests]
    if (clock := plans[0].settings.clock) != VIRTUAL_CLOCK:
        raise BadInputError(
            option="clock",
            given=clock,
            problem="a search needs runs that repeat",
            remedy="leave it out",
        )
    return record_name(plans[0], find_images())


def trials_file(search: Starvation, build: str, directory: FilePath) -> FilePath:
    """Return the file of a search's trials; another question or build has another one."""
    return directory / f"trials-{search.identity(build)[:NAME_LETTERS]}.json"


def chosen(search: Starvation, batch: int, before: Sequence[Trial]) -> list[dict[str, float]]:
    """Return the values of the trials of a batch; ``before``: values of all batches before it.

    All are asked for before one is told, by a sampler with a seed of the batch's own; a trial that
    is under way counts as a bad one (Optuna's constant liar), so that others differ from it.
    """
    optuna = load_optuna()
    seed = int.from_bytes(hashlib.sha256(f"{search.seed} {batch}".encode()).digest()[:4], "big")
    allowed = distributions(search.allowed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            seed=seed, n_startup_trials=STARTUP_TRIALS, constant_liar=True
        )
    study = optuna.create_study(sampler=sampler)
    for trial in before:
        known = {} if trial.shares is None else {"value": trial.least_share}
        state = optuna.trial.TrialState.COMPLETE if known else optuna.trial.TrialState.FAIL
        study.add_trial(
            optuna.trial.create_trial(
                params=search.rounded(trial.values), distributions=allowed, state=state, **known
            )
        )
    return [search.rounded(study.ask(allowed).params) for _ in range(search.batch)]


def shares_of(record: Record) -> Shares:
    """Return what the two flows of a run had while both sent."""
    means_bps = joint_means_bps(record.samples, record.plan.schedule)
    shares = fair_shares(means_bps)
    return Shares(None if any(map(math.isnan, shares)) else shares, means_bps)


def read(file: FilePath, out: FilePath) -> dict[int, Trial]:
    """Return the trials in a file by number, without trials that have no record in ``out``."""
    trials = validated(list[Trial], read_trials(file), str(file))
    return {trial.number: trial for trial in trials if (out / trial.record / RECORD_FILE).is_file()}


def continue_starvation(
    search: Starvation, count: int, file: FilePath, out: FilePath, make: MakeBatch, watch: Watch
) -> tuple[Trial, ...]:
    """Make the trials of a search up to ``count`` that are not in its file; return all of these.

    ``make``: makes the runs of a batch. ``watch``: called with each new trial, and all so far. Each
    is saved at once. Raises what a run raises when the others of its batch are made; an
    interruption ends the runs under way.
    """
    trials = read(file, out)
    for batch, first in enumerate(range(1, count + 1, search.batch)):
        numbers = [each for each in range(first, first + search.batch) if each <= count]
        if all(number in trials for number in numbers):
            continue
        values = chosen(search, batch, [trials[number] for number in range(1, first)])
        missing = {
            number: of_trial
            for number, of_trial in zip(numbers, values, strict=False)
            if number not in trials
        }

        def keep(
            number: int, of_trial: Mapping[str, float], draws: Sequence[MadeRun[Shares]]
        ) -> None:
            trials[number] = _trial(search, number, of_trial, draws)
            kept = [trials[each] for each in sorted(trials)]
            write_trials(file, [dataclasses.asdict(each) for each in kept], search=search.name)
            watch(trials[number], kept)

        _make(search, missing, make, keep)
    return tuple(trials[number] for number in range(1, count + 1))


def _make(
    search: Starvation,
    missing: Mapping[int, Mapping[str, float]],
    make: MakeBatch,
    keep: Callable[[int, Mapping[str, float], Sequence[MadeRun[Shares]]], None],
) -> None:
    """Make the trials of a batch, each with all its draws; two of the same plan are one run."""
    planned = {number: _runs(search, values) for number, values in missing.items()}
    distinct = {identity: run for runs in planned.values() for identity, run in runs.items()}
    made: dict[str, MadeRun[Shares]] = {}

    def watch(event: RunEvent[Shares]) -> None:
        if isinstance(event.result, MadeRun):
            (ended,) = (name for name, run in distinct.items() if run is event.run)
            made[ended] = event.result
            for number, runs in planned.items():
                if ended in runs and made.keys() >= runs.keys():
                    keep(number, missing[number], [made[name] for name in runs])

    for failed in make(RunSet(tuple(distinct.values())), watch).failed:
        failed.error.detail = f"of {failed.run.name}\n{failed.error.detail}".strip()
        raise failed.error


def _runs(search: Starvation, values: Mapping[str, float]) -> dict[str, PlannedRun]:
    """Return the draws of a trial by the identities of their plans."""
    runs = [planned_run(command_of(request), request) for request in search.requests(values)]
    texts = search.texts(values)
    return {plan_identity(run.plan): dataclasses.replace(run, values=texts) for run in runs}


def _trial(
    search: Starvation, number: int, values: Mapping[str, float], draws: Sequence[MadeRun[Shares]]
) -> Trial:
    arrived = [each for each in draws if each.value.of_flows is not None]
    ordered = sorted(arrived or draws, key=lambda each: min(each.value.of_flows or (0.0,)))
    made = ordered[(len(ordered) - 1) // 2]
    return Trial(
        number=number,
        values=values,
        options=search.texts(values),
        shares=made.value.of_flows,
        throughputs_bps=made.value.throughputs_bps,
        record=made.record.name,
        fingerprint=made.fingerprint,
        command=made.run.name,
        least_shares=tuple(min(each.value.of_flows or ()) for each in arrived),
    )


def make_starvation(
    searches: Iterable[Starvation],
    count: int,
    directory: FilePath,
    out: FilePath,
    cores: int | None,
    watch: Callable[[Starvation, Trial, Sequence[Trial]], None],
) -> list[tuple[Starvation, tuple[Trial, ...]]]:
    """Make the trials of all searches in the lab; their files are in ``directory``."""
    make_directory(out)
    files = [(each, trials_file(each, check(each), directory)) for each in searches]
    with Pool(cores) as pool:

        def make(run_set: RunSet, watch: WatchRuns) -> MadeSet[Shares]:
            return make_runs(run_set, out, None, watch, measure=shares_of, pool=pool)

        return [
            (search, continue_starvation(search, count, file, out, make, partial(watch, search)))
            for search, file in files
        ]
