"""The kinds of conditions that the claims.toml of an experiment may ask for, as data.

Each kind compares values (``values.py``) and gives the conditions of a verdict. In ``words``, which
name the value, ``{name}`` is the stack that was picked, ``{other}`` the one it is compared with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

from farpath.runs.claims.condition import Condition, within
from farpath.runs.claims.values import ByStack, Measures, MeasureValue, RunValue, Source, Value

Relation = Literal["<", "<=", ">", ">="]


class Compared(BaseModel, extra="forbid"):
    """The value of a condition: ``of`` alone, or with another value.

    ``over``: divided by that. ``off``: the distance from that; ``part_off``: as a part of it.
    """

    words: str
    unit: str = ""
    of: Value
    over: Value | None = None
    off: Value | None = None
    part_off: Value | None = None

    def values(self) -> tuple[Value, ...]:
        """Return all values that it needs."""
        others = (self.over, self.off, self.part_off)
        return (self.of, *(value for value in others if value is not None))

    def number(self, source: Source) -> tuple[float, dict[str, str]]:
        """Return the number, and the words for places in ``words``."""
        number, places = source.number(self.of), {}
        value = number.value
        places["name"] = number.name
        if self.over is not None:
            other = source.number(self.over)
            value, places["other"] = value / other.value, other.name
        if self.off is not None:
            value = abs(value - source.number(self.off).value)
        if self.part_off is not None:
            value = abs(value / source.number(self.part_off).value - 1)
        return value, places


class Threshold(Compared, extra="forbid"):
    """A value against a number."""

    kind: Literal["threshold"]
    relation: Relation
    limit: float

    def conditions(self, source: Source) -> tuple[Condition, ...]:
        """Return the condition."""
        value, places = self.number(source)
        words = self.words.format_map(places)
        return (Condition(words, value, self.relation, self.limit, self.unit),)


class Range(Compared, extra="forbid"):
    """A value between two numbers."""

    kind: Literal["range"]
    between: tuple[float, float]

    def conditions(self, source: Source) -> tuple[Condition, ...]:
        """Return the two conditions."""
        value, places = self.number(source)
        return within(self.words.format_map(places), value, *self.between, self.unit)


class Comparison(Compared, extra="forbid"):
    """A value against another; ``limit_words`` name that."""

    kind: Literal["comparison"]
    relation: Relation
    than: Value
    limit_words: str

    def values(self) -> tuple[Value, ...]:
        """Return all values that it needs."""
        return (*super().values(), self.than)

    def conditions(self, source: Source) -> tuple[Condition, ...]:
        """Return the condition."""
        value, places = self.number(source)
        limit = source.number(self.than)
        places["other"] = limit.name
        words, limit_words = (text.format_map(places) for text in (self.words, self.limit_words))
        return (Condition(words, value, self.relation, limit.value, self.unit, limit_words),)


class OfStacks(BaseModel, extra="forbid"):
    """A condition on the values of several stacks."""

    words: str
    unit: str = ""
    of: RunValue

    def values(self) -> tuple[Value, ...]:
        """Return the value that it needs."""
        return (self.of,)


class Leading(OfStacks, extra="forbid"):
    """The stacks of a group have the largest values of all, or the smallest."""

    kind: Literal["leading"]
    group: tuple[str, ...]
    end: Literal["largest", "smallest"]

    def conditions(self, source: Source) -> tuple[Condition, ...]:
        """Return the condition on the last of the group and the first of the others."""
        values = _by_stack(source, self.of)
        others = [stack for stack in values if stack not in self.group]
        sign, relation = (1, ">") if self.end == "largest" else (-1, "<")
        last = min(self.group, key=lambda stack: sign * values[stack])
        first = max(others, key=lambda stack: sign * values[stack])
        words = self.words.format(name=last)
        limit = values[first]
        return (Condition(words, values[last], relation, limit, self.unit, f"{first}'s"),)


class Ranking(OfStacks, extra="forbid"):
    """Named stacks are among the best, and others among the worst.

    Each of k named stacks has to be among the first k + 1 from its end: one more than k is allowed,
    because a document's own table may have a stack among such a group that it does not name. So one
    stack that is not named may stand before them: each is compared with the second of these, and
    the seeds must tell the two apart. A remark says whether the named stacks alone stand there.
    """

    kind: Literal["ranking"]
    best: tuple[str, ...]
    worst: tuple[str, ...]
    best_is: Literal["largest", "smallest"]

    def conditions(self, source: Source) -> tuple[Condition, ...]:
        """Return the condition of each named stack."""
        values = _by_stack(source, self.of)
        conditions = []
        for group, end in self._ends():
            second = _outside(values, group, end)[1]
            conditions += [
                Condition(
                    self.words.format(name=stack), values[stack], ">=" if end > 0 else "<=",
                    values[second], self.unit, f"{second}'s", tell_apart=True,
                )
                for stack in group
            ]  # fmt: skip
        return tuple(conditions)

    def remark(self, source: Source) -> str:
        """Return the ranking, and whether other stacks stand among the named ones."""
        values = _by_stack(source, self.of)
        unmixed = all(
            end * values[_outside(values, group, end)[0]]
            < min(end * values[stack] for stack in group)
            for group, end in self._ends()
        )
        (_best, sign), _worst = self._ends()
        order = sorted(values, key=lambda stack: -sign * values[stack])
        ranking = ", ".join(f"{stack} {values[stack]:.2f}" for stack in order)
        among = "no other stack stands" if unmixed else "other stacks stand"
        quantity = self.words.partition(" of {name}")[0]
        return f"{quantity}: {ranking}; {among} among the named groups"

    def _ends(self) -> tuple[tuple[tuple[str, ...], int], tuple[tuple[str, ...], int]]:
        """Return both groups, each with the sign by which its end of the ranking is the largest."""
        sign = 1 if self.best_is == "largest" else -1
        return (self.best, sign), (self.worst, -sign)


class Theory(BaseModel, extra="forbid"):
    """Each measure is within a part of what theory predicts; ``{count}`` is how many there are."""

    kind: Literal["theory"]
    words: str
    of: MeasureValue
    most: float

    def values(self) -> tuple[Value, ...]:
        """Return the value that it needs."""
        return (self.of,)

    def conditions(self, source: Source) -> tuple[Condition, ...]:
        """Return the condition on the largest deviation."""
        assert isinstance(source, Measures)
        largest, count = source.largest_deviation(self.of)
        return (Condition(self.words.format(count=count), largest, "<=", self.most),)


Kind: TypeAlias = Annotated[
    Threshold | Range | Comparison | Leading | Ranking | Theory, Field(discriminator="kind")
]


def _by_stack(source: Source, value: RunValue) -> dict[str, float]:
    assert isinstance(source, ByStack)
    return source.by_stack(value)


def _outside(values: Mapping[str, float], group: tuple[str, ...], end: int) -> list[str]:
    """Return the stacks that a group does not name, those from its end of the ranking first."""
    others = [stack for stack in values if stack not in group]
    return sorted(others, key=lambda stack: -end * values[stack])
