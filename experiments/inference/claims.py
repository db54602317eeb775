"""The paper's sentences on CERN as forecasts: how likely each is by what the lab gives.

Each stack's numbers are drawn as the other eight's printed ones predict them, with the posterior of
path and hosts that is without that stack. A sentence is as likely as the share of draws in which
all its conditions hold, those by which the study's campaign is judged (``claims.toml`` of
``seven_regions``). Brier, *Verification of forecasts expressed in terms of probability*, 1950.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from experiments.seven_regions.published import PUBLISHED_PATH, Published
from farpath.metrics.run import Summary
from farpath.runs.claims.claim import declared_claims
from farpath.runs.claims.criteria import MissingRunsError
from farpath.runs.claims.declared import Rule, criteria
from farpath.runs.claims.values import CPU_COST, ByStack, RunValue

from .surrogate import OUTPUTS, Array, Output

STUDY = "seven_regions"
#: What table 2 has of each region.
_OF_REGIONS = ("stability", "fairness")


@dataclass(frozen=True)
class Chance:
    """How likely a claim is: ``before`` any number was known, and by the others' numbers.

    ``holds``: whether it does by the printed numbers. ``by_words``: these are not all that it
    needs, so that the document's own sentence stands for them.
    """

    id: str
    claim: str
    before: float
    held_out: float
    holds: bool
    by_words: bool


def quantity(value: RunValue) -> str:
    """Return the name of a value's quantity, which is of one run: without path and stack."""
    parts = "_".join([value.metric, *map(str, value.regions)])
    if value.over is not None:
        parts += "_over_" + "_".join([value.over.metric, *map(str, value.over.regions)])
    return f"{parts}_lost" if value.lost else parts


def _scale(value: RunValue) -> str:
    if value.metric.startswith("fairness"):
        return "logit"
    return "own" if value.lost else "log"


def _values(rule: Rule) -> list[RunValue]:
    return [
        value
        for condition in rule.conditions
        for value in condition.values()
        if isinstance(value, RunValue)
    ]


def _is_of_tests(rule: Rule) -> bool:
    """Whether tests to CERN alone decide a claim, by what a surrogate can know."""
    return rule.of_runs and all(
        value.path == PUBLISHED_PATH and value.metric != CPU_COST for value in _values(rule)
    )


@cache
def rules() -> Mapping[str, tuple[str, Rule]]:
    """Return the sentences and rules of the claims that tests to CERN decide, by their ids."""
    return {
        each.claim.id: (each.claim.claim, each.rule)
        for each in declared_claims(STUDY)
        if each.rule is not None and _is_of_tests(each.rule)
    }


@cache
def _quantities() -> Mapping[str, RunValue]:
    """Return a value of each quantity that the claims need beyond the printed outputs."""
    known = {output.name for output in OUTPUTS}
    values = [value for _, rule in rules().values() for value in _values(rule)]
    return {name: value for value in values if (name := quantity(value)) not in known}


@cache
def outputs() -> tuple[Output, ...]:
    """Return all outputs of a surrogate: those that are printed, and those of claims."""
    further = (Output(name, _scale(value)) for name, value in _quantities().items())
    return (*OUTPUTS, *further)


def outputs_of(summary: Summary) -> dict[str, float]:
    """Return the further quantities of a test from its summary."""
    return {name: value.of(summary) for name, value in _quantities().items()}


@dataclass(frozen=True)
class Numbers(ByStack):
    """Numbers of each stack's test, by quantity: drawn or printed ones."""

    by_name: Mapping[str, Mapping[str, float]]

    def by_stack(self, value: RunValue) -> dict[str, float]:
        """Return the value of each stack; raise MissingRunsError if a number is not printed."""
        name = quantity(value)
        try:
            return {stack: self.by_name[stack][name] for stack in value.names([*self.by_name])}
        except KeyError as error:
            raise MissingRunsError(f"{name} is not printed") from error

    def holds(self, rule: Rule) -> bool:
        """Whether all conditions of a rule hold."""
        return all(condition.holds for condition in criteria(rule, self).conditions)


def drawn(draws: Mapping[str, Array]) -> Iterator[Numbers]:
    """Yield each draw of all stacks' numbers. ``draws``: of each stack, draws by outputs."""
    names = [output.name for output in outputs()]
    for rows in zip(*draws.values(), strict=True):
        yield Numbers(
            {
                stack: dict(zip(names, map(float, row), strict=True))
                for stack, row in zip(draws, rows, strict=True)
            }
        )


def shares(draws: Mapping[str, Array]) -> dict[str, float]:
    """Return the share of draws in which each claim holds."""
    each_draw = list(drawn(draws))
    return {
        id_: statistics.fmean(numbers.holds(rule) for numbers in each_draw)
        for id_, (_, rule) in rules().items()
    }


def chances(
    before: Mapping[str, float],
    held_out: Mapping[str, float],
    printed: Mapping[str, Mapping[str, float]],
) -> Iterator[Chance]:
    """Yield each claim with its shares of draws, and whether the printed numbers hold it."""
    for id_, (claim, rule) in rules().items():
        try:
            holds, by_words = Numbers(printed).holds(rule), False
        except MissingRunsError:
            holds, by_words = True, True
        yield Chance(id_, claim, before[id_], held_out[id_], holds, by_words)


def brier(forecasts: Iterable[tuple[float, bool]]) -> float:
    """Return the Brier score of probabilities and what came true: 0 is perfect."""
    return statistics.fmean((chance - holds) ** 2 for chance, holds in forecasts)


def order_forecasts(
    draws: Mapping[str, Array], printed: Mapping[str, Mapping[str, float]], column: str
) -> list[tuple[float, bool]]:
    """Return for each two stacks how likely the first has the larger number, and whether it has.

    Two of equal printed numbers are left out.
    """
    index = [output.name for output in outputs()].index(column)
    return [
        (float(np.mean(draws[one][:, index] > draws[other][:, index])),
         printed[one][column] > printed[other][column])
        for one, other in combinations(draws, 2)
        if printed[one][column] != printed[other][column]
    ]  # fmt: skip


def printed_numbers(
    outputs_of_table: Mapping[str, float], published: Published
) -> dict[str, float]:
    """Return a stack's printed numbers: its outputs, and from table 2 S and F of some regions."""
    return {
        **outputs_of_table,
        **{
            name: statistics.fmean(
                getattr(region, value.metric)
                for region in published.regions
                if region.number in value.regions
            )
            for name, value in _quantities().items()
            if value.metric in _OF_REGIONS and value.regions and value.over is None
        },
    }


def base_rate(outcomes: Sequence[bool]) -> float:
    """Return the Brier score of who knows only how often such a claim holds."""
    rate = statistics.fmean(outcomes)
    return rate * (1 - rate)
