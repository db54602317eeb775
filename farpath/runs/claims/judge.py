"""Verdicts on claims, from the means over seeds and from each seed alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path as FilePath

from farpath.base.project import EXPERIMENTS
from farpath.metrics.estimate import estimate
from farpath.metrics.measures import Measure
from farpath.metrics.results import ResultSet
from farpath.runs.claims.claim import Claim, claims
from farpath.runs.claims.claim_rules import MeasureRule, RunRule, measure_rules, run_rules
from farpath.runs.claims.criteria import Criteria, MissingRunsError
from farpath.runs.claims.verdict import (
    FAILS,
    HOLDS,
    UNDECIDED,
    ClaimVerdict,
    CriterionResult,
    state_of,
)


def judge_all(campaign: ResultSet, experiments: FilePath = EXPERIMENTS) -> tuple[ClaimVerdict, ...]:
    """Judge every claim of the experiments in a folder, in the order of their ids."""
    return tuple(judge(claim, campaign, experiments) for claim in claims(experiments))


def judge(claim: Claim, campaign: ResultSet, experiments: FilePath = EXPERIMENTS) -> ClaimVerdict:
    """Judge a claim by a campaign's results or by the measures of companion experiments.

    The means over seeds decide. A claim is undecided if the lab cannot decide it, whose numbers are
    shown all the same, if its runs are missing, if one of its
    values is not defined, or if it needs more seeds than there are. It is also undecided if, for a
    decisive condition, the seeds disagree and the 95 % confidence interval of the margin contains
    zero; between neighbours in a ranking the interval decides alone.
    """
    verdict = _by_results(claim, campaign, experiments)
    if not claim.undecidable:
        return verdict
    why = f"cannot be decided by this lab: {claim.undecidable}"
    return dataclasses.replace(verdict, state=UNDECIDED, why=why)


def _by_results(claim: Claim, campaign: ResultSet, experiments: FilePath) -> ClaimVerdict:
    """Judge a claim as if the lab could decide it."""
    rule = run_rules(experiments).get(claim.id)
    companion = measure_rules(experiments).get(claim.id)
    measures = campaign.measures
    try:
        if rule is not None:
            criteria, by_seed = rule(campaign), _by_seed(rule, campaign)
        elif companion is not None and measures:
            criteria, by_seed = companion(measures), _companion_by_seed(companion, measures)
        else:
            return ClaimVerdict(claim, UNDECIDED, f"needs the experiment {claim.runs}")
    except MissingRunsError as error:
        return ClaimVerdict(claim, UNDECIDED, error.message)
    results = _criterion_results(criteria, by_seed)
    state, reason = _state_and_reason(results)
    if 0 < len(by_seed) < criteria.least_seeds:
        state = UNDECIDED
        reason = f"chance decides a single run: {len(by_seed)} of {criteria.least_seeds} seeds"
    states = {seed: state_of(of_seed.conditions) for seed, of_seed in by_seed.items()}
    return ClaimVerdict(claim, state, reason, results, states, criteria.remarks, claim.fitted)


def _by_seed(rule: RunRule, campaign: ResultSet) -> dict[int, Criteria]:
    """Evaluate a rule for each seed that has all runs that the rule needs."""
    criteria = {}
    for seed in sorted({run.seed for run in (*campaign.runs, *campaign.cpu_runs)}):
        try:
            criteria[seed] = rule(campaign, seed)
        except MissingRunsError:
            continue
    return criteria


def _companion_by_seed(rule: MeasureRule, measures: Sequence[Measure]) -> dict[int, Criteria]:
    """Evaluate a companion rule for each seed that has enough measures."""
    quantities = [condition.quantity for condition in rule(measures).conditions]
    by_seed = {}
    for seed in sorted({measure.seed for measure in measures}):
        try:
            criteria = rule([measure for measure in measures if measure.seed == seed])
        except MissingRunsError:
            continue
        # A seed that lacks some of the runs has fewer conditions: they cannot be matched
        if [condition.quantity for condition in criteria.conditions] == quantities:
            by_seed[seed] = criteria
    return by_seed


def _criterion_results(
    criteria: Criteria, by_seed: dict[int, Criteria]
) -> tuple[CriterionResult, ...]:
    results = []
    for index, condition in enumerate(criteria.conditions):
        seeds = {seed: of_seed.conditions[index] for seed, of_seed in by_seed.items()}
        margins = [of_seed.margin for of_seed in seeds.values()]
        results.append(CriterionResult(condition, seeds, estimate(margins)))
    return tuple(results)


def _state_and_reason(results: tuple[CriterionResult, ...]) -> tuple[str, str]:
    """Return state and reason: one clear failure suffices, else every condition must be clear."""
    if not results:
        return UNDECIDED, "these runs allow no comparison"
    if any(result.clear and not result.condition.holds for result in results):
        return FAILS, ""
    unclear = [result for result in results if not result.clear]
    if not unclear:
        return HOLDS, ""
    return UNDECIDED, "; ".join(dict.fromkeys(_reason(result) for result in unclear))


def _reason(result: CriterionResult) -> str:
    quantity = result.condition.quantity
    if not result.condition.defined:
        return f"{quantity} is not defined"
    if not result.by_seed:
        return "no seed has all the runs that it needs"
    agreeing = sum(condition.holds for condition in result.by_seed.values())
    return (
        f"{quantity}: {agreeing} of {len(result.by_seed)} seeds say that it is so, and the "
        "interval of the difference holds zero"
    )
