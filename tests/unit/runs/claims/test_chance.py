"""Chance in verdicts: what three seeds say of one, and what is left of many."""

from __future__ import annotations

import math

import pytest

from farpath.metrics.estimate import estimate
from farpath.runs.claims.chance import (
    chance_sentence,
    corrected,
    probabilities,
    probability,
    probability_of,
    verdict_dicts,
)
from farpath.runs.claims.claim import Claim
from farpath.runs.claims.condition import Condition
from farpath.runs.claims.verdict import FAILS, HOLDS, UNDECIDED, ClaimVerdict, CriterionResult

#: Values below a limit of 1 by a clear margin, by a doubtful one, and above it.
CLEAR, DOUBTFUL, ABOVE = (0.50, 0.51, 0.52), (0.3, 0.9, 0.99), (1.50, 1.51, 1.52)


def criterion(*values: float) -> CriterionResult:
    by_seed = {seed: Condition("a", value, "<", 1.0) for seed, value in enumerate(values)}
    mean = Condition("a", sum(values) / len(values), "<", 1.0)
    return CriterionResult(mean, by_seed, estimate([each.margin for each in by_seed.values()]))


def verdict(id_: str, state: str, *criteria: CriterionResult) -> ClaimVerdict:
    return ClaimVerdict(Claim(id_, "", "", ""), state, criteria=criteria)


def test_a_probability_is_that_of_students_t_and_needs_three_seeds_that_differ() -> None:
    # t = 0.49 sqrt(3) / 0.01 = 84.87 with 2 degrees of freedom, of which the tail is 1/t^2
    assert probability([0.48, 0.49, 0.50]) == pytest.approx(1 / 84.87**2, rel=0.01)
    for margins in ([1.0, 2.0], [1.0, 1.0, 1.0], [1.0, 2.0, math.nan]):
        assert math.isnan(probability(margins))


def test_a_claim_that_holds_has_its_least_certain_condition_and_one_that_fails_its_most() -> None:
    clear, doubtful = (probability([1 - each for each in values]) for values in (CLEAR, DOUBTFUL))
    held = verdict("C1", HOLDS, criterion(*CLEAR), criterion(*DOUBTFUL))
    assert probability_of(held) == pytest.approx(doubtful)
    failed = verdict("C2", FAILS, criterion(*CLEAR), criterion(*ABOVE))
    assert probability_of(failed) == pytest.approx(2 * clear, rel=0.1)
    for unknown in (
        verdict("C3", UNDECIDED, criterion(*CLEAR)),
        verdict("C3", HOLDS, criterion(0.5)),
        verdict("C3", HOLDS),
    ):
        assert math.isnan(probability_of(unknown))


def test_what_is_left_of_many_verdicts_is_told_in_a_sentence_and_in_json() -> None:
    verdicts = [
        verdict("C1", HOLDS, criterion(*CLEAR)),
        verdict("C2", HOLDS, criterion(*DOUBTFUL)),
        verdict("C3", UNDECIDED, criterion(*CLEAR)),
    ]
    single = probability_of(verdicts[0])
    assert corrected(probabilities(verdicts)) == {
        "C1": pytest.approx(2 * single),
        "C2": pytest.approx(probability_of(verdicts[1])),
    }
    assert chance_sentence(verdicts) == (
        "tested over seeds: 2 verdicts, of which 1 stay at 5 % after Holm's correction; not C2"
    )
    assert chance_sentence(verdicts[:1]).endswith("Holm's correction")
    assert chance_sentence(verdicts[2:]) == ""
    first, _, last = verdict_dicts(verdicts)
    assert (first["p"], first["p_holm"]) == (single, pytest.approx(2 * single))
    assert last["p"] is last["p_holm"] is None
