"""Verdict: whether a claim holds, and the numbers that say so."""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from farpath.analysis.published import Claim
from farpath.analysis.statistics import Estimate

HOLDS = "holds"
FAILS = "fails"
UNDECIDED = "undecided"

_RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Condition:
    """One comparison that a claim asks for: ``value`` ``relation`` ``limit``.

    ``what`` says what the value is; ``against`` what the limit is where that was
    measured too.
    """

    what: str
    value: float
    relation: str
    limit: float
    unit: str = ""
    against: str = ""

    @property
    def defined(self) -> bool:
        """Whether both sides are numbers."""
        return math.isfinite(self.value) and math.isfinite(self.limit)

    @property
    def holds(self) -> bool:
        """Whether it is so; False if a side is no number."""
        return self.defined and _RELATIONS[self.relation](self.value, self.limit)

    @property
    def margin(self) -> float:
        """By how much it holds (above 0) or is missed (below), in its unit."""
        difference = self.limit - self.value
        return difference if self.relation.startswith("<") else -difference

    def __str__(self) -> str:
        """``S of HTCP 0.28 < Reno's 0.66``, ``not <`` where it is missed."""
        if not self.defined:
            return f"{self.what} is not defined"
        unit = f" {self.unit}" if self.unit else ""
        limit = f"{self.against} {self.limit:.4g}".strip()
        relation = self.relation if self.holds else f"not {self.relation}"
        return f"{self.what} {self.value:.4g} {relation} {limit}{unit}"


def within(
    what: str, value: float, low: float, high: float, unit: str = ""
) -> tuple[Condition, ...]:
    """The two conditions that a value lies in a range."""
    return Condition(what, value, ">=", low, unit), Condition(what, value, "<=", high, unit)


def state_of(conditions: Iterable[Condition]) -> str:
    """``holds`` if all conditions do, ``fails`` if one does not, else ``undecided``."""
    known = tuple(conditions)
    if any(condition.defined and not condition.holds for condition in known):
        return FAILS
    return HOLDS if all(condition.holds for condition in known) else UNDECIDED


@dataclass(frozen=True)
class CriterionResult:
    """A condition by the means over seeds, and what the single seeds say of it.

    ``by_seed``: each seed's own. ``margin``: the mean of their margins with its 95 %
    confidence interval.
    """

    condition: Condition
    by_seed: Mapping[int, Condition]
    margin: Estimate

    @property
    def clear(self) -> bool:
        """Whether the seeds tell it from its contrary.

        They do if each of them says the same as the means, or if the interval of the
        margin lies on the means' side of zero; a single seed does by itself.
        """
        holds = self.condition.holds
        if not (self.condition.defined and self.by_seed):
            return False
        agree = all(each.defined and each.holds == holds for each in self.by_seed.values())
        beyond = abs(self.margin.mean) > self.margin.half_width
        return agree or (beyond and (self.margin.mean > 0) == holds)


@dataclass(frozen=True)
class ClaimVerdict:
    """What a campaign says of a claim.

    ``state``: ``holds``, ``fails`` or ``undecided``; ``why``: what keeps it undecided,
    or what else has to be known. ``checked``: the conditions with their numbers.
    ``by_seed``: the state that each seed alone would give. ``remarks``: figures that
    decide nothing.
    """

    claim: Claim
    state: str
    why: str = ""
    checked: tuple[CriterionResult, ...] = ()
    by_seed: Mapping[int, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The claim's."""
        return self.claim.id

    def numbers(self) -> str:
        """The conditions with their numbers, one after the other."""
        return "; ".join(str(each.condition) for each in self.checked)

    def seeds(self) -> str:
        """What the single seeds say: how many, and which differ from the others."""
        if not self.by_seed:
            return ""
        if len(set(self.by_seed.values())) == 1:
            return f"{len(self.by_seed)} of {len(self.by_seed)} seeds"
        return ", ".join(f"seed {seed} {state}" for seed, state in self.by_seed.items())

    def as_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON; what is not defined is None."""
        return {
            **dataclasses.asdict(self.claim),
            "state": self.state,
            "why": self.why,
            "conditions": [_checked_dict(each) for each in self.checked],
            "seeds": {str(seed): state for seed, state in self.by_seed.items()},
            "remarks": list(self.remarks),
        }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _checked_dict(checked: CriterionResult) -> dict[str, Any]:
    condition = checked.condition
    return {
        "what": condition.what,
        "value": _number(condition.value),
        "relation": condition.relation,
        "limit": _number(condition.limit),
        "against": condition.against,
        "unit": condition.unit,
        "holds": condition.holds if condition.defined else None,
        "margin": _number(checked.margin.mean),
        "margin_half_width_95": _number(checked.margin.half_width),
        "seeds": {
            str(seed): {"value": _number(each.value), "limit": _number(each.limit)}
            for seed, each in checked.by_seed.items()
        },
    }
