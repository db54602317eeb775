"""Chance in verdicts: which of many would be there if seeds alone decided."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from farpath.metrics.estimate import scipy_part
from farpath.metrics.significance import ERROR, has_statistics, holm
from farpath.runs.claims.verdict import (
    FAILS,
    SEEDS_TO_TELL,
    UNDECIDED,
    ClaimVerdict,
    CriterionResult,
)


def probability(margins: Sequence[float]) -> float:
    """Return the probability of margins so far from zero by chance, where their mean is zero.

    By Student's t for one sample, two-sided. NaN with fewer than ``SEEDS_TO_TELL`` margins, if
    one is not finite, or if none differs from another: nothing in such runs is random.

    >>> round(probability([1.0, 2.0, 3.0]), 3), probability([2.0, 2.0, 2.0])
    (0.074, nan)
    """
    if len(margins) < SEEDS_TO_TELL or not all(map(math.isfinite, margins)):
        return math.nan
    if not (spread := statistics.stdev(margins)):
        return math.nan
    t = abs(statistics.fmean(margins)) * math.sqrt(len(margins)) / spread
    return 2 * float(scipy_part("special").stdtr(len(margins) - 1, -t))


def _of_criterion(result: CriterionResult) -> float:
    return probability([each.margin for each in result.by_seed.values()])


def probability_of(verdict: ClaimVerdict) -> float:
    """Return the probability by chance of the conditions that a verdict rests on; NaN if unknown.

    A claim holds if each condition does, so that the least certain one counts; it fails by one of
    them, so that the most certain of those that fail counts, as often as there are conditions
    (Bonferroni).
    """
    if verdict.state == UNDECIDED:
        return math.nan
    failed = verdict.state == FAILS
    found = [
        _of_criterion(result)
        for result in verdict.criteria
        if not failed or (result.clear and not result.condition.holds)
    ]
    known = [each for each in found if not math.isnan(each)]
    if not known:
        return math.nan
    return min(1.0, min(known) * len(verdict.criteria)) if failed else max(known)


def probabilities(verdicts: Sequence[ClaimVerdict]) -> dict[str, float]:
    """Return what ``probability_of`` knows of verdicts, by their claims; nothing without SciPy."""
    if not has_statistics():
        return {}
    found = {verdict.id: probability_of(verdict) for verdict in verdicts}
    return {id_: each for id_, each in found.items() if not math.isnan(each)}


def corrected(known: Mapping[str, float]) -> dict[str, float]:
    """Return probabilities, corrected for their number (Holm), by their claims."""
    return dict(zip(known, holm(list(known.values())), strict=True))


def verdict_dicts(verdicts: Sequence[ClaimVerdict]) -> list[dict[str, Any]]:
    """Return verdicts as plain data, each with its probability by chance and the corrected one."""
    known = probabilities(verdicts)
    found = corrected(known)
    return [
        {**verdict.as_dict(), "p": known.get(verdict.id), "p_holm": found.get(verdict.id)}
        for verdict in verdicts
    ]


def chance_sentence(verdicts: Sequence[ClaimVerdict]) -> str:
    """Return a sentence on the verdicts that chance may have made; empty if none can be tested."""
    found = corrected(probabilities(verdicts))
    if not found:
        return ""
    doubted = [id_ for id_, each in found.items() if each > ERROR]
    sentence = (
        f"tested over seeds: {len(found)} verdicts, of which {len(found) - len(doubted)} stay at "
        f"{100 * ERROR:.0f} % after Holm's correction"
    )
    return f"{sentence}; not {', '.join(doubted)}" if doubted else sentence
