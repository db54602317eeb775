"""Intervals of shares and harm in a league over its draws, and which differences exceed chance."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from farpath.metrics.estimate import CONFIDENCE
from farpath.metrics.significance import (
    SHARE_DIFFERENCE,
    Interval,
    bootstrap_interval,
    has_statistics,
    holm,
    runs_needed,
    welch,
)
from farpath.uses.league.harm import HARMS, harm_interval
from farpath.uses.league.measure import Encounter, each_run, shares_by_run

UNKNOWN = Interval(math.nan, math.nan)


@dataclass(frozen=True)
class Chance:
    """What chance leaves of one stack's results beside another, over the runs of that pair.

    ``share``: the interval of the median share. ``harm``: those of the harm of each quantity of
    ``HARMS``. ``runs_needed``: of either of two leagues, to see that a share differs by
    ``SHARE_DIFFERENCE``; None if it is not known. ``own_p``: the probability by chance that the
    throughput beside the other differs so from that beside itself, corrected for all pairs of the
    same conditions (Holm); NaN if it is not known, and beside itself.
    """

    share: Interval = UNKNOWN
    harm: Mapping[str, Interval] | None = None
    runs_needed: int | None = None
    own_p: float = math.nan

    def of_harm(self, name: str) -> Interval:
        """Return the interval of the harm of one quantity."""
        return (self.harm or {}).get(name, UNKNOWN)


def chances(
    found: Iterable[Encounter], alone: Iterable[Encounter]
) -> dict[tuple[str, str], Chance]:
    """Return the chance of each pair, by stack and other; of none without SciPy.

    ``found``, ``alone``: the runs under one set of conditions.
    """
    if not has_statistics():
        return {}
    found, alone = tuple(found), tuple(alone)
    shares = shares_by_run(found)
    probabilities = _own_probabilities(found)
    made = {}
    for stack, other in shares:
        beside = [each for each in found if (each.stack, each.other) == (stack, other)]
        without = [each for each in alone if each.stack == stack]
        values = [value for value in shares[stack, other] if not math.isnan(value)]
        made[stack, other] = Chance(
            bootstrap_interval(values),
            {name: harm_interval(name, without, beside) for name in HARMS},
            runs_needed(values, SHARE_DIFFERENCE),
            probabilities.get((stack, other), math.nan),
        )
    return made


def _own_probabilities(found: tuple[Encounter, ...]) -> dict[tuple[str, str], float]:
    """Return the corrected probabilities that stacks fare beside others as beside themselves."""
    means_bps: dict[tuple[str, str], list[float]] = {}
    for (stack, other, _), sides in each_run(found).items():
        mean_bps = statistics.fmean(side.throughput_bps for side in sides)
        means_bps.setdefault((stack, other), []).append(mean_bps)
    found_p = {
        (stack, other): welch(values, means_bps.get((stack, stack), []))
        for (stack, other), values in means_bps.items()
        if stack != other
    }
    return dict(zip(found_p, holm(list(found_p.values())), strict=True))


def chance_words(made: Mapping[tuple[str, str], Chance]) -> str:
    """Return sentences on what shows beyond chance; empty of runs that are one draw."""
    needed = {pair: each.runs_needed for pair, each in made.items() if each.share.is_known}
    if not needed:
        return ""
    runs_of = {pair: math.inf if runs is None else runs for pair, runs in needed.items()}
    stack, other = max(runs_of, key=lambda pair: runs_of[pair])
    most = needed[stack, other]
    sentences = [
        f"To see a difference of {100 * SHARE_DIFFERENCE:.0f} % of a fair half (power 80 %) takes "
        f"{min(runs_of.values()):.0f} draws or more of either league, for {stack} beside {other} "
        f"{'no number' if most is None else most}."
    ]
    tested = {pair: each.own_p for pair, each in made.items() if not math.isnan(each.own_p)}
    if tested:
        seen = sum(each <= 1 - CONFIDENCE for each in tested.values())
        sentences.append(
            f"In {seen} of {len(tested)} encounters a stack's throughput differs from that beside "
            "itself by more than chance (Welch's test, 5 % after Holm's correction)."
        )
    return " ".join(sentences)
