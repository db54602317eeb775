"""Rules of claims as data: the fields of a claim in claims.toml that say how it is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Literal, cast

from pydantic import BaseModel

from farpath.base.validation import validated
from farpath.metrics.measures import Measure
from farpath.metrics.results import ResultSet
from farpath.metrics.studies import Study
from farpath.runs.claims.condition import Condition
from farpath.runs.claims.criteria import Criteria, MissingRunsError
from farpath.runs.claims.kinds import Kind, Ranking
from farpath.runs.claims.values import Measures, MeasureValue, Runs, RunValue, Source

#: The values of ``each`` that stand for all values of an option that the measures have.
ALL = "all"


class Remark(BaseModel, extra="forbid"):
    """A sentence that decides nothing. With ``of`` it is there if such measures are.

    ``tells``: what ``{values}`` are: the measures' ``note``, their ``condition``, or an option.
    """

    words: str
    of: MeasureValue | None = None
    tells: str = ""

    def text(self, source: Source) -> str:
        """Return the sentence; empty without the measures that it is about."""
        if self.of is None:
            return self.words
        assert isinstance(source, Measures)
        texts = (
            getattr(measure, self.tells)
            if self.tells in ("note", "condition")
            else measure.about[self.tells]
            for measure in source.find(self.of)
        )
        values = "; ".join(dict.fromkeys(texts))
        return self.words.format(values=values) if values else ""


class Rule(BaseModel, extra="forbid"):
    """How a claim is judged.

    ``each``: the conditions are there once for each of
    these values, which stand in place of their name in braces; ``keep``: of all those only the one
    with the largest or the smallest value. ``least_seeds``: fewer leave the claim undecided.
    ``missing``: the sentence if there are no measures of the first quantity.
    """

    conditions: list[Kind]
    remarks: list[Remark] = []
    each: dict[str, list[str] | Literal["all"]] = {}
    keep: Literal["largest", "smallest"] | None = None
    least_seeds: int = 1
    missing: str = ""

    @property
    def of_runs(self) -> bool:
        """Whether runs decide it, and not measures."""
        return isinstance(self.conditions[0].values()[0], RunValue)


#: The field of a claim with fields that all values of its conditions have.
GIVEN = "given"
#: The fields of a claim that are its rule.
FIELDS = (*Rule.model_fields, GIVEN)
#: The fields of a condition that are values.
_VALUES = ("of", "over", "off", "part_off", "than")


def rule_from(fields: Mapping[str, Any]) -> Rule:
    """Return the rule of these fields; raise BadInputError for one that is invalid."""
    conditions = [_completed(each, fields.get(GIVEN, {})) for each in fields.get("conditions", ())]
    plain = {name: value for name, value in fields.items() if name != GIVEN}
    return validated(Rule, {**plain, "conditions": conditions})


def judged_by_runs(
    rule: Rule, results: ResultSet, seed: int | None, study: Study | None
) -> Criteria:
    """Return a rule's criteria by runs; raise MissingRunsError naming the runs that are missing."""
    source = Runs(results, seed, study)
    conditions = [condition for changed in _each(rule, source) for condition in changed.conditions]
    source.check(cast(RunValue, value) for each in conditions for value in each.values())
    return criteria(rule, source)


def judged_by_measures(rule: Rule, measures: Sequence[Measure], experiment: str) -> Criteria:
    """Return a rule's criteria by the measures of an experiment.

    Raises MissingRunsError naming the runs that are missing.
    """
    source = Measures(measures, experiment)
    value = rule.conditions[0].values()[0]
    if rule.missing and not source.candidates(cast(MeasureValue, value)):
        raise MissingRunsError(rule.missing)
    return criteria(rule, source)


def criteria(rule: Rule, source: Source) -> Criteria:
    """Return a rule's criteria by results; raise MissingRunsError naming what they lack."""
    groups = [
        tuple(each for kind in changed.conditions for each in kind.conditions(source))
        for changed in _each(rule, source)
    ]
    if rule.keep is not None and groups:
        choose = max if rule.keep == "largest" else min
        groups = [choose(groups, key=lambda group: group[0].value)]
    conditions: list[Condition] = [condition for group in groups for condition in group]
    rankings = [kind.remark(source) for kind in rule.conditions if isinstance(kind, Ranking)]
    remarks = [text for remark in rule.remarks if (text := remark.text(source))]
    return Criteria(tuple(conditions), (*rankings, *remarks), rule.least_seeds)


def _each(rule: Rule, source: Source) -> Iterator[Rule]:
    """Yield the rule with each combination of the values in ``each``."""
    if not rule.each:
        yield rule
        return
    plain = rule.model_dump(exclude_none=True, exclude_defaults=True) | {"each": {}}
    choices = [
        _all_values(rule, name, source) if values == ALL else values
        for name, values in rule.each.items()
    ]
    for values in product(*choices):
        yield Rule.model_validate(_filled(plain, dict(zip(rule.each, values, strict=True))))


def _all_values(rule: Rule, option: str, source: Source) -> list[str]:
    """Return the values of an option in the measures of the first quantity, numbers in order."""
    assert isinstance(source, Measures)
    value = cast(MeasureValue, rule.conditions[0].values()[0])
    values = dict.fromkeys(measure.about[option] for measure in source.candidates(value))
    return sorted(values, key=float) if all(map(_is_number, values)) else list(values)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _filled(data: Any, words: Mapping[str, str]) -> Any:
    """Return plain data in whose texts each name in braces is the word for it."""
    if isinstance(data, str):
        for name, word in words.items():
            data = data.replace(f"{{{name}}}", word)
        return data
    if isinstance(data, dict):
        return {name: _filled(value, words) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_filled(value, words) for value in data]
    return data


def _completed(condition: Any, given: Mapping[str, Any]) -> Any:
    """Return a condition whose values have the given fields where they lack them."""
    if not isinstance(condition, dict):
        return condition
    return {
        name: _value(value, given) if name in _VALUES and isinstance(value, dict) else value
        for name, value in condition.items()
    }


def _value(value: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    about = {**given.get("about", {}), **value.get("about", {})}
    return {**given, **value, **({"about": about} if about else {})}
