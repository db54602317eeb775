"""The verdict on a claim, and the numbers that it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from farpath.metrics.estimate import Estimate
from farpath.runs.claims.claim import Claim
from farpath.runs.claims.condition import Condition

HOLDS = "holds"
FAILS = "fails"
UNDECIDED = "undecided"
#: A verdict by fewer seeds is counted apart: two runs agree by chance every second time.
SEEDS_TO_TELL = 3
#: From so many seeds on it decides that all say the same: by chance five do in one case of sixteen,
#: three in one of four.
SEEDS_TO_AGREE = 5


def state_of(conditions: Iterable[Condition]) -> str:
    """Return ``holds`` if all conditions do, ``fails`` if one does not, else ``undecided``.

    No conditions decide nothing.
    """
    all_conditions = tuple(conditions)
    if any(condition.defined and not condition.holds for condition in all_conditions):
        return FAILS
    met = [condition.holds for condition in all_conditions]
    return HOLDS if met and all(met) else UNDECIDED


@dataclass(frozen=True)
class CriterionResult:
    """A condition by the means over seeds, and by each single seed.

    ``by_seed``: the condition of each seed. ``margin``: the mean of their margins with its 95 %
    confidence interval.
    """

    condition: Condition
    by_seed: Mapping[int, Condition]
    margin: Estimate

    @property
    def clear(self) -> bool:
        """Whether the seeds are enough to tell the condition from its contrary.

        They are if the interval of the margin lies on the means' side of zero, or if each seed
        agrees with the means and there are ``SEEDS_TO_AGREE``, or fewer than ``SEEDS_TO_TELL``,
        which have no interval to speak of, or all have the same margin. Of a condition with
        ``tell_apart`` the interval has to, unless there is one seed.
        """
        holds = self.condition.holds
        if not (self.condition.defined and self.by_seed):
            return False
        agree = all(
            condition.defined and condition.holds == holds for condition in self.by_seed.values()
        )
        excludes_zero = abs(self.margin.mean) > self.margin.half_width
        told_apart = excludes_zero and (self.margin.mean > 0) == holds
        if self.condition.tell_apart and len(self.by_seed) > 1:
            return told_apart
        by_chance = SEEDS_TO_TELL <= len(self.by_seed) < SEEDS_TO_AGREE
        return told_apart or (agree and not (by_chance and self.margin.half_width > 0))


@dataclass(frozen=True)
class ClaimVerdict:
    """The verdict of a campaign on a claim.

    ``state``: ``holds``, ``fails`` or ``undecided``. ``why``: why it is undecided, or what else a
    reader has to know. ``criteria``: the conditions with their numbers. ``by_seed``: the state that
    each seed alone would give. ``remarks``: values that decide nothing. ``fitted``: what the path's
    model was fitted to, if the claim is about that.
    """

    claim: Claim
    state: str
    why: str = ""
    criteria: tuple[CriterionResult, ...] = ()
    by_seed: Mapping[int, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    fitted: str = ""

    @property
    def by_few_seeds(self) -> bool:
        """Whether fewer seeds decide it than tell a difference from chance."""
        seeds = [len(result.by_seed) for result in self.criteria]
        return self.state != UNDECIDED and min(seeds, default=0) < SEEDS_TO_TELL

    @property
    def id(self) -> str:
        """The id of the claim."""
        return self.claim.id

    def numbers(self) -> str:
        """Return the conditions with their numbers, separated by semicolons."""
        return "; ".join(str(result.condition) for result in self.criteria)

    def seeds(self) -> str:
        """Describe what the single seeds decide: how many agree, or the state of each."""
        if not self.by_seed:
            return ""
        if len(self.by_seed) == 1:
            return "decided by one run" if self.by_few_seeds else "one run"
        if len(set(self.by_seed.values())) == 1:
            return f"{len(self.by_seed)} of {len(self.by_seed)} seeds"
        return ", ".join(f"seed {seed} {state}" for seed, state in self.by_seed.items())

    def as_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists and numbers for JSON; undefined values are None."""
        return {
            **self.claim.words,
            "state": self.state,
            "why": self.why,
            "conditions": [_result_dict(result) for result in self.criteria],
            "seeds": {str(seed): state for seed, state in self.by_seed.items()},
            "remarks": list(self.remarks),
            "fitted": self.fitted,
            "by_few_seeds": self.by_few_seeds,
        }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _result_dict(result: CriterionResult) -> dict[str, Any]:
    condition = result.condition
    return {
        "what": condition.quantity,
        "value": _number(condition.value),
        "relation": condition.relation,
        "limit": _number(condition.limit),
        "against": condition.limit_name,
        "unit": condition.unit,
        "holds": condition.holds if condition.defined else None,
        "margin": _number(result.margin.mean),
        "margin_half_width_95": _number(result.margin.half_width),
        "seeds": {
            str(seed): {"value": _number(of_seed.value), "limit": _number(of_seed.limit)}
            for seed, of_seed in result.by_seed.items()
        },
    }
