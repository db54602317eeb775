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
from typing import Any

from farpath.base.errors import BadInputError
from farpath.base.files import make_directory
from farpath.base.validation import validated
from farpath.lab.artifacts.images import find_images
from farpath.lab.machine import available_cores, cores_each
from farpath.lab.pool import Job, JobEvent, Pool
from farpath.lab.provenance import record_name
from farpath.lab.user_parts import BuiltParts
from farpath.metrics.share import fair_shares, joint_means_bps
from farpath.planning.request import RunRequest
from farpath.record.record import RECORD_FILE, load_record
from farpath.runs.sweep import make_run
from farpath.runs.trials import distributions, load_optuna, read_trials, write_trials
from farpath.spec.settings import VIRTUAL_CLOCK
from farpath.uses.starvation.question import Starvation, Trial, command_of

#: Trials that are drawn at random before the sampler learns from them, as Optuna's default.
STARTUP_TRIALS = 10
#: Letters of a search's identity in the name of its file.
NAME_LETTERS = 10


@dataclass(frozen=True)
class MeasuredRun:
    """Result of one run; see ``Trial``."""

    shares: tuple[float, ...] | None
    throughputs_bps: tuple[float, ...]
    record: str
    fingerprint: str


#: Makes a run, in a worker process.
Measure = Callable[[RunRequest], MeasuredRun]
Watch = Callable[[Trial, Sequence[Trial]], None]


def check(search: Starvation) -> str:
    """Plan the runs at the ends of the ranges; return the name of the first one's record.

    Raises BadInputError for a run that is not allowed.
    """
    requests = [search.request(corner) for corner in search.corners()]
    plans = [request.plan(user_parts=BuiltParts(request.lab)) for request in requests]
    if (clock := plans[0].settings.clock) != VIRTUAL_CLOCK:
        raise BadInputError(f"CLOCK is '{clock}': a search needs runs that repeat: leave it out")
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


def run_in_lab(out: FilePath, cores: int, request: RunRequest) -> MeasuredRun:
    """Make a run in the virtual lab on so many cores, or find its record, and measure it."""
    outcome = make_run(request, out, cores)
    record = load_record(outcome.directory)
    means_bps = joint_means_bps(record.samples, record.plan.schedule)
    shares = fair_shares(means_bps)
    return MeasuredRun(
        shares=None if any(map(math.isnan, shares)) else shares,
        throughputs_bps=means_bps,
        record=outcome.directory.name,
        fingerprint=record.fingerprint,
    )


def read(file: FilePath, out: FilePath) -> dict[int, Trial]:
    """Return the trials in a file by number, without trials that have no record in ``out``."""
    trials = validated(list[Trial], read_trials(file), str(file))
    return {trial.number: trial for trial in trials if (out / trial.record / RECORD_FILE).is_file()}


def continue_starvation(
    search: Starvation,
    count: int,
    file: FilePath,
    out: FilePath,
    measure: Measure,
    at_once: int,
    watch: Watch,
) -> tuple[Trial, ...]:
    """Make the trials of a search up to ``count`` that are not in its file; return all of these.

    ``measure``: a function for worker processes, of which ``at_once`` are there. ``watch``: called
    with each new trial, and all so far. Each is saved at once. Raises the error of a run when the
    others of its batch are made; an interruption ends the runs under way.
    """
    trials = read(file, out)
    wanted = range(1, count + 1)
    if all(number in trials for number in wanted):
        return tuple(trials[number] for number in wanted)
    with Pool(at_once) as pool:
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

            def keep(number: int, measured: MeasuredRun, of_trial: Mapping[str, float]) -> None:
                trials[number] = _trial(search, number, of_trial, measured)
                made = [trials[each] for each in sorted(trials)]
                write_trials(file, [dataclasses.asdict(each) for each in made], search=search.name)
                watch(trials[number], made)

            _make(pool, search, missing, measure, keep)
    return tuple(trials[number] for number in wanted)


def _make(
    pool: Pool,
    search: Starvation,
    missing: Mapping[int, Mapping[str, float]],
    measure: Measure,
    keep: Callable[[int, MeasuredRun, Mapping[str, float]], None],
) -> None:
    """Make the trials of a batch; two of the same values are one run."""
    requests = {number: search.request(values) for number, values in missing.items()}
    distinct = list(dict.fromkeys(requests.values()))

    def watch(event: JobEvent[MeasuredRun]) -> None:
        if event.result is None or event.result.error is not None:
            return
        for number, values in missing.items():
            if requests[number] == distinct[event.index]:
                keep(number, event.result.unwrap(), values)

    results = pool.run([Job(partial(measure, request)) for request in distinct], watch)
    for request, result in zip(distinct, results, strict=True):
        if result.error is not None:
            result.error.detail = f"of {command_of(request)}\n{result.error.detail}".strip()
            raise result.error


def _trial(
    search: Starvation, number: int, values: Mapping[str, float], measured: MeasuredRun
) -> Trial:
    return Trial(
        number=number,
        values=values,
        options=search.texts(values),
        command=command_of(search.request(values)),
        **dataclasses.asdict(measured),
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
    at_once = available_cores() if cores is None else cores
    make_directory(out)
    checked = [(search, check(search)) for search in searches]
    made: list[tuple[Starvation, tuple[Trial, ...]]] = []
    for search, build in checked:
        measure: Any = partial(run_in_lab, out, cores_each(min(at_once, search.batch)))
        file = trials_file(search, build, directory)
        of_search = partial(watch, search)
        trials = continue_starvation(search, count, file, out, measure, at_once, of_search)
        made.append((search, trials))
    return made
