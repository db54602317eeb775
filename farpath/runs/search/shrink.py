"""Shrinking: the smallest part of a failing run's schedule of faults that fails in the same way."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.files import make_directory
from farpath.lab.exec.service_run import UpRun
from farpath.runs.search.ddmin import ddmin
from farpath.runs.search.made import Recorded
from farpath.runs.search.result import Ended, SeedResult
from farpath.spec.services import Fault

LOG = logging.getLogger(__name__)
Faults = tuple[Fault, ...]
#: Most runs that halve durations, and the decimals of a duration in s.
MOST_HALVINGS = 20
_DECIMALS = 3


@dataclass(frozen=True)
class Try:
    """A run with some of the faults. ``number``: from 1 on. ``fails``: as the whole schedule."""

    number: int
    faults: Faults
    ended: Ended
    cached: bool
    fails: bool


@dataclass(frozen=True)
class Shrunk:
    """The smallest schedule that was found for a failing run, and all tries, in their order.

    ``faults``: empty if the run fails without any. ``ended``: how the run with these ends.
    """

    failing: SeedResult
    faults: Faults
    ended: Ended
    tries: tuple[Try, ...]

    @property
    def needs_none(self) -> bool:
        """Whether the run fails without any fault: its schedule is not the cause."""
        return not self.faults


def tell_try(failing: SeedResult, tried: Try) -> None:
    """Say how a try ended."""
    shorter_ones = "" if set(tried.faults) <= set(failing.faults) else ", shorter"
    faults = f"{len(tried.faults)} of {len(failing.faults)} faults{shorter_ones}"
    same = "" if tried.fails or not tried.ended.failed else ", another failure"
    known = ", recorded before" if tried.cached else ""
    said = f"up: seed {failing.seed}, try {tried.number}: {faults}: {tried.ended.words}"
    LOG.info(f"{said}{same}{known}")


def shrink_faults(
    run_of: Callable[[Faults], UpRun],
    failing: SeedResult,
    out: FilePath,
    *,
    most_halvings: int = MOST_HALVINGS,
    wall_s: float = math.inf,
    watch: Callable[[SeedResult, Try], None] = tell_try,
) -> Shrunk:
    """Return the smallest part of a failing run's faults with which it fails in the same way.

    ``run_of``: the run of the same seed with these faults alone. The part is 1-minimal (``ddmin``).
    Durations of its faults are then halved while the run still fails, in at most ``most_halvings``
    runs. ``wall_s``: real s that each run may take. Runs that have a record in ``out`` are not made
    again. Raises as ``run_services``.
    """
    make_directory(out)
    recorded = Recorded(out)
    known: dict[Faults, Ended] = {failing.faults: failing.ended}
    tries: list[Try] = []

    def fails(faults: Faults) -> bool:
        ended, cached = recorded.find_or_make(run_of(faults), wall_s)
        known[faults] = ended
        tries.append(Try(len(tries) + 1, faults, ended, cached, ended.is_like(failing.ended)))
        watch(failing, tries[-1])
        return tries[-1].fails

    found = ddmin(failing.faults, fails) if failing.faults else ()
    found = shorter(found, fails, most_halvings)
    return Shrunk(failing, found, known[found], tuple(tries))


def shorter(faults: Faults, fails: Callable[[Faults], bool], most: int) -> Faults:
    """Return faults whose durations are halved while the run fails, in at most ``most`` tests.

    Each in turn is halved until the run passes, to whole ms. One that lasts for the rest of the run
    stays so.
    """
    for index, _ in enumerate(faults):
        while most > 0 and (fault := halved(faults[index])):
            most -= 1
            tried = (*faults[:index], fault, *faults[index + 1 :])
            if not fails(tried):
                break
            faults = tried
    return faults


def halved(fault: Fault) -> Fault | None:
    """Return a fault of half the duration; None for one that can be no shorter."""
    if fault.lasts_s is None:
        return None
    lasts_s = round(fault.lasts_s / 2, _DECIMALS)
    return dataclasses.replace(fault, lasts_s=lasts_s) if 0 < lasts_s < fault.lasts_s else None
