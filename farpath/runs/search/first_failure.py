"""The first seed whose run fails: runs of services on all cores, until one does.

The answer does not depend on how many runs there are at once: the failing seed is the lowest, and
all lower ones have been made.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path as FilePath

from farpath.base.errors import (
    BadInputError,
    CheckFailedError,
    LabFailedError,
    MachineLacksError,
    StoppedError,
)
from farpath.base.files import make_directory
from farpath.lab.exec.program_run import WallTimeoutError
from farpath.lab.exec.service_run import UpRun
from farpath.lab.pool import Pool
from farpath.record.service_record import load_service_record
from farpath.runs.make import FailedRun, RunEvent, make_runs
from farpath.runs.run_set import MOST_RUNS, PlannedRun, RunSet
from farpath.runs.run_set_progress import progress_printer
from farpath.runs.search.made import (
    Recorded,
    ended_of,
    ended_without_record,
    make_service_run,
)
from farpath.runs.search.result import (
    Ended,
    NeverStartsError,
    SeedResult,
    SeedSearch,
    decided,
)

#: Errors that are none of a seed's: they end the search.
FATAL = (
    *(BadInputError, MachineLacksError, LabFailedError, CheckFailedError, StoppedError),
    WallTimeoutError,
)
#: Told how many runs were recorded before, returns what is told of each run.
Printer = Callable[[int], Callable[[RunEvent[Ended]], None]]


class _AnsweredError(Exception):
    """The answer is known; runs that are under way are of no use."""


def print_progress(before: int) -> Callable[[RunEvent[Ended]], None]:
    """Return what prints the progress of a search; ``before``: number of runs recorded before."""
    return progress_printer("up", before=before)


def search_seeds(
    run_of: Callable[[int], UpRun],
    seeds: Sequence[int],
    out: FilePath,
    at_once: int | None = None,
    *,
    keep_going: bool = False,
    wall_s: float = math.inf,
    printer: Printer = print_progress,
) -> SeedSearch:
    """Make the runs of seeds, up to the lowest that fails, and return how they ended.

    ``run_of``: the run of a seed, with its faults drawn. ``at_once``: how many runs at once, by
    default one on each core. ``keep_going``: whether to make all runs. ``wall_s``: real s that each
    may take. Runs that have a record in ``out`` are not made again. A run fails by a status of its
    main service that is not 0, or by a service that can never start; any other error is raised at
    once. An interruption loses no run that was finished. Raises BadInputError without a seed, and
    for too many.
    """
    wanted = tuple(sorted(set(seeds)))
    if not 1 <= len(wanted) <= MOST_RUNS:
        raise BadInputError(
            option="seeds", given=len(wanted), remedy=f"it must be from 1 to {MOST_RUNS:,}"
        )
    make_directory(out)
    runs = {seed: run_of(seed) for seed in wanted}
    recorded, results = Recorded(out), {}
    for seed, run in runs.items():
        if ended := recorded.find(run):
            results[seed] = SeedResult(seed, run.services.faults, ended, cached=True)
    search = _Search(runs, results, keep_going, out, wall_s)
    if not search.is_answered:
        search.make(at_once, printer)
    return SeedSearch(wanted, search.answer)


@dataclasses.dataclass
class _Search:
    """A search under way; ``results``: by seed, as far as they are known."""

    runs: dict[int, UpRun]
    results: dict[int, SeedResult]
    keep_going: bool
    out: FilePath
    wall_s: float

    @property
    def answer(self) -> tuple[SeedResult, ...]:
        if self.keep_going:
            return tuple(self.results[seed] for seed in self.runs)
        return decided(self.runs, self.results)

    @property
    def is_answered(self) -> bool:
        if self.keep_going:
            return len(self.results) == len(self.runs)
        return bool(decided(self.runs, self.results))

    def _missing(self) -> list[int]:
        """Return the seeds that have to be made: none above one that has failed."""
        failed = [seed for seed, result in self.results.items() if result.failed]
        last = math.inf if self.keep_going or not failed else min(failed)
        return [seed for seed in self.runs if seed not in self.results and seed < last]

    def make(self, at_once: int | None, printer: Printer) -> None:
        missing = self._missing()
        planned = [PlannedRun(f"seed {seed}", self.runs[seed].plan) for seed in missing]
        by_name = {each.name: seed for each, seed in zip(planned, missing, strict=True)}
        makes = [
            partial(make_service_run, run=self.runs[seed], wall_s=self.wall_s) for seed in missing
        ]
        tell = printer(sum(seed in self.results for seed in self.runs))
        made_failed = 0

        def watch(event: RunEvent[Ended]) -> None:
            nonlocal made_failed
            if event.result is None:
                tell(event)
                return
            seed = by_name[event.run.name]
            if isinstance(event.result, FailedRun):
                assert isinstance(event.result.error, NeverStartsError)
                ended = ended_without_record(event.result.error)
            else:
                ended = event.result.value
            self.results[seed] = SeedResult(seed, self.runs[seed].services.faults, ended)
            if ended.failed and ended.status is not None:
                made_failed += 1
                event = _as_failed(event, ended)
            tell(_counted(event, made_failed))
            if self.is_answered and event.progress.running + event.progress.waiting:
                raise _AnsweredError

        try:
            with Pool(at_once) as pool:
                make_runs(
                    *(RunSet(tuple(planned)), self.out, None, watch),
                    measure=ended_of,
                    make=makes,
                    load=load_service_record,
                    pool=pool,
                    fatal=FATAL,
                )
        except _AnsweredError:
            pass


def _as_failed(event: RunEvent[Ended], ended: Ended) -> RunEvent[Ended]:
    """Return the event of a run that failed by its status as people are told it."""
    assert ended.took_s is not None
    said = LabFailedError(
        f"{ended.words.removeprefix('fail: ')} after {ended.took_s:.3f} virtual s"
    )
    return dataclasses.replace(event, result=FailedRun(event.run, said))


def _counted(event: RunEvent[Ended], failed: int) -> RunEvent[Ended]:
    """Return an event in whose progress runs that failed by their status count as failed."""
    progress = event.progress
    counted = dataclasses.replace(
        progress, done=progress.done - failed, failed=progress.failed + failed
    )
    return dataclasses.replace(event, progress=counted)
