"""Judge: a campaign's verdict on each claim, by the means over seeds and by each seed."""

from __future__ import annotations

from collections.abc import Sequence

from farpath.analysis.claims.paper_rules import EXPERIMENTS, RULES, Criteria, Rule
from farpath.analysis.claims.study_rules import COMPANION_RULES, CompanionRule
from farpath.analysis.claims.verdict import (
    FAILS,
    HOLDS,
    UNDECIDED,
    ClaimVerdict,
    CriterionResult,
    state_of,
)
from farpath.analysis.claims.view import MissingRunsError, ResultView
from farpath.analysis.published import Claim, claims
from farpath.analysis.results import ResultSet
from farpath.analysis.statistics import estimate
from farpath.analysis.studies.measure import Measure


def judge_all(campaign: ResultSet) -> tuple[ClaimVerdict, ...]:
    """A verdict on every claim, in the order of their ids."""
    return tuple(judge(claim, campaign) for claim in claims())


def judge(claim: Claim, campaign: ResultSet) -> ClaimVerdict:
    """What a campaign says of a claim, or the measures of the companion experiments.

    The means over seeds decide. A claim is undecided if its runs are missing, if one
    of its figures is not defined, or if for a condition on which it hangs the seeds do
    not agree and the 95 % confidence interval of the margin holds zero.
    """
    rule, companion = RULES.get(claim.id), COMPANION_RULES.get(claim.id)
    measures = campaign.measures
    try:
        if rule is not None:
            ruling, by_seed = rule(ResultView(campaign)), _by_seed(rule, campaign)
        elif companion is not None and measures:
            ruling, by_seed = companion(measures), _companion_by_seed(companion, measures)
        else:
            return ClaimVerdict(claim, UNDECIDED, f"needs the experiment {EXPERIMENTS[claim.id]}")
    except MissingRunsError as error:
        return ClaimVerdict(claim, UNDECIDED, error.message)
    checked = _checked(ruling, by_seed)
    state, why = _weighed(checked)
    states = {seed: state_of(each.conditions) for seed, each in by_seed.items()}
    return ClaimVerdict(claim, state, why, checked, states, ruling.remarks)


def _by_seed(rule: Rule, campaign: ResultSet) -> dict[int, Criteria]:
    """What each seed alone says, of those that have all runs the rule asks for."""
    found = {}
    for seed in sorted({run.seed for run in (*campaign.runs, *campaign.cpu_runs)}):
        try:
            found[seed] = rule(ResultView(campaign, seed))
        except MissingRunsError:
            continue
    return found


def _companion_by_seed(rule: CompanionRule, measures: Sequence[Measure]) -> dict[int, Criteria]:
    """What each seed's measures alone say, of those that are enough."""
    whats = [each.what for each in rule(measures).conditions]
    found = {}
    for seed in sorted({measure.seed for measure in measures}):
        try:
            ruling = rule([measure for measure in measures if measure.seed == seed])
        except MissingRunsError:
            continue
        # A seed without some of the runs has fewer conditions, which are not those of all
        if [each.what for each in ruling.conditions] == whats:
            found[seed] = ruling
    return found


def _checked(ruling: Criteria, by_seed: dict[int, Criteria]) -> tuple[CriterionResult, ...]:
    checked = []
    for place, condition in enumerate(ruling.conditions):
        seeds = {seed: each.conditions[place] for seed, each in by_seed.items()}
        margins = [each.margin for each in seeds.values()]
        checked.append(CriterionResult(condition, seeds, estimate(margins)))
    return tuple(checked)


def _weighed(checked: tuple[CriterionResult, ...]) -> tuple[str, str]:
    """State and reason: one clear failure suffices, else every condition must be clear."""
    if any(each.clear and not each.condition.holds for each in checked):
        return FAILS, ""
    open_ones = [each for each in checked if not each.clear]
    if not open_ones:
        return HOLDS, ""
    return UNDECIDED, "; ".join(dict.fromkeys(_reason(each) for each in open_ones))


def _reason(checked: CriterionResult) -> str:
    what = checked.condition.what
    if not checked.condition.defined:
        return f"{what} is not defined"
    if not checked.by_seed:
        return "no seed has all the runs that it needs"
    agreeing = sum(each.holds for each in checked.by_seed.values())
    return (
        f"{what}: {agreeing} of {len(checked.by_seed)} seeds say that it is so, and the interval "
        "of the difference holds zero"
    )
