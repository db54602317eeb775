"""The results of a search: how the run of each seed ended, and the first that failed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.errors import FarpathError, LabFailedError
from farpath.planning.faults import fault_text
from farpath.record.program_record import status_words
from farpath.spec.services import Fault

#: What the lab says of a service that can never start (farpath/guest/services.py).
_NEVER_STARTS = re.compile(r"\S+ waits for \S+ to (be healthy|end with status 0)(?=, and that )")


class NeverStartsError(FarpathError):
    """A service can never start, since another one that it waits for has failed.

    ``what``: which one waits for what.
    """

    exit_status = 4

    def __init__(self, message: str, what: str) -> None:
        super().__init__(message)
        self.what = what

    def __reduce__(self) -> tuple[type[NeverStartsError], tuple[str, str]]:
        """Return what a worker of a pool sends in its place."""
        return NeverStartsError, (self.text, self.what)


def never_starts(error: LabFailedError) -> NeverStartsError | None:
    """Return the error as one of a service that can never start; None if it is another one.

    >>> said = "the lab failed: web waits for db to be healthy, and that ended with status 1: no"
    >>> never_starts(LabFailedError(said)).what
    'web waits for db to be healthy'
    """
    found = _NEVER_STARTS.search(error.message)
    return NeverStartsError(error.text, found[0]) if found else None


@dataclass(frozen=True)
class Ended:
    """How a run of services ended, as far as it decides whether it failed.

    ``status``: of the main service; None if a service could never start, and then ``problem`` says
    which. ``took_s``: virtual s. ``record``: None without a record, and then there is no
    ``fingerprint``.
    """

    status: int | None
    took_s: float | None = None
    record: FilePath | None = None
    fingerprint: str = ""
    problem: str = ""

    @property
    def failed(self) -> bool:
        """Whether the run failed: the main service's status is not 0, or a service never starts."""
        return self.status != 0

    def is_like(self, other: Ended) -> bool:
        """Whether another run failed in the same way: the same status, or the same service."""
        return (self.status, self.problem) == (other.status, other.problem)

    @property
    def words(self) -> str:
        """How the run ended, for people."""
        if self.status is None:
            return f"error: {self.problem}"
        return status_words(self.status)


@dataclass(frozen=True)
class SeedResult:
    """The run of a seed. ``faults``: as drawn. ``cached``: whether it was recorded before."""

    seed: int
    faults: tuple[Fault, ...]
    ended: Ended
    cached: bool = False

    @property
    def failed(self) -> bool:
        """Whether the run failed."""
        return self.ended.failed


@dataclass(frozen=True)
class SeedSearch:
    """The results of a search over seeds.

    ``seeds``: those that were asked for. ``results``: in the order of seeds, of all seeds up to the
    first that failed, or of all.
    """

    seeds: tuple[int, ...]
    results: tuple[SeedResult, ...]

    @property
    def failures(self) -> tuple[SeedResult, ...]:
        """The runs that failed."""
        return tuple(result for result in self.results if result.failed)

    @property
    def first(self) -> SeedResult | None:
        """The failed run of the lowest seed."""
        return next(iter(self.failures), None)

    @property
    def cached(self) -> int:
        """How many runs were recorded before."""
        return sum(result.cached for result in self.results)


def decided(seeds: Iterable[int], results: Mapping[int, SeedResult]) -> tuple[SeedResult, ...]:
    """Return the results that answer a search which stops at the first failure; empty if none do.

    They do if a seed has failed and all lower ones are known, or if all are known. Results of
    higher seeds, which depend on how many runs there were at once, are left out.
    """
    known: list[SeedResult] = []
    for seed in sorted(seeds):
        if seed not in results:
            return ()
        known.append(results[seed])
        if results[seed].failed:
            break
    return tuple(known)


def seed_command(command: Sequence[str], seed: int) -> str:
    """Return the command that repeats the run of a seed; ``command``: its other words.

    >>> seed_command(["farpath", "up", "my file.yml"], 17)
    "farpath up 'my file.yml' --seed=17"
    """
    return shlex.join([*command, f"--seed={seed}"])


def faults_command(command: Sequence[str], seed: int, faults: Iterable[Fault]) -> str:
    """Return the command of a run with these faults alone.

    >>> faults_command(["farpath", "up", "a.yml"], 17, [Fault("kill", ("db",), 3.0)])
    'farpath up a.yml --seed=17 --no-faults --fault=kill:db,at=3s'
    """
    options = [f"--fault={fault_text(fault)}" for fault in faults]
    return shlex.join([*command, f"--seed={seed}", "--no-faults", *options])
