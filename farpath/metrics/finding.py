"""Finding: a quantity that programs have measured, and the bound that it keeps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from farpath.base.column import Column, Subject, Value, number

#: Part of a bound by which rounding in a program's output may pass it.
ROUNDING = 1e-4


@dataclass(frozen=True)
class Bound:
    """A bound of a quantity, in its unit, by a formula or a document.

    ``is_least``: whether no value may be below it; else none may be above it. ``why``: the
    formula, and where it is from.
    """

    value: float
    is_least: bool
    why: str

    def holds(self, value: float) -> bool:
        """Whether a value keeps the bound, but for rounding.

        >>> Bound(200.0, False, "").holds(199.976), Bound(200.0, True, "").holds(199.9)
        (True, False)
        """
        slack = ROUNDING * abs(self.value)
        return value >= self.value - slack if self.is_least else value <= self.value + slack


def at_least(value: float, why: str) -> Bound | None:
    """Return a bound from below; None for a value that bounds nothing."""
    return Bound(value, True, why) if math.isfinite(value) and value > 0 else None


def at_most(value: float, why: str) -> Bound | None:
    """Return a bound from above; None for a value that bounds nothing."""
    return Bound(value, False, why) if math.isfinite(value) else None


@dataclass(frozen=True)
class Finding:
    """A measured quantity: ``key`` with its unit, ``words`` for people, and its bound if any.

    ``of``: the part of the programs that it is of; empty for all. ``decimals``: for people.
    """

    key: str
    words: str
    value: float
    decimals: int = 0
    of: str = ""
    bound: Bound | None = None

    @classmethod
    def of_column(
        cls, column: Column[Subject], subject: Subject, bound: Bound | None = None, of: str = ""
    ) -> Finding:
        """Return the finding of a column's quantity of a subject."""
        return cls(
            *(column.key, column.words, column.number_of(subject), column.decimals, of, bound)
        )

    @property
    def holds(self) -> bool:
        """Whether the value keeps its bound; without a bound nothing is claimed."""
        return self.bound is None or self.bound.holds(self.value)

    @property
    def verdict(self) -> str:
        """The verdict in a word; a dash without a bound."""
        if self.bound is None:
            return "-"
        return "holds" if self.holds else "violated"

    @property
    def bound_text(self) -> str:
        """The bound with its sign."""
        if self.bound is None:
            return "-"
        sign = "≥" if self.bound.is_least else "≤"
        return f"{sign} {number(self.bound.value, self.decimals)}"

    def as_dict(self) -> dict[str, Value]:
        """Return the finding as plain values; those that there are not are None."""
        return {
            "key": self.key,
            "of": self.of,
            "value": self.value if math.isfinite(self.value) else None,
            "bound": None if self.bound is None else self.bound.value,
            "bound_is": None
            if self.bound is None
            else ("least" if self.bound.is_least else "most"),
            "why": None if self.bound is None else self.bound.why,
            "verdict": self.verdict,
        }


def verdict_of(findings: Sequence[Finding]) -> str:
    """Return the verdict on all findings, in words.

    >>> verdict_of([Finding("tps", "", 9.0, bound=Bound(10.0, False, ""))])
    'its bound holds'
    >>> verdict_of([Finding("tps", "", 9.0)])
    'nothing has a bound on this path'
    """
    bounded = [one for one in findings if one.bound is not None]
    broken = [one for one in bounded if not one.holds]
    if broken:
        names = ", ".join(" of ".join(filter(None, (one.words, one.of))) for one in broken)
        return f"{len(broken)} of {len(bounded)} bounds violated: {names}"
    if len(bounded) <= 1:
        return "its bound holds" if bounded else "nothing has a bound on this path"
    return f"all {len(bounded)} bounds hold"
