"""Column: a quantity of a subject, with its key and its heading.

A quantity is defined once; tables, files, pages and data frames are made from its column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

Subject = TypeVar("Subject")
Whole = TypeVar("Whole")

#: A value of a table; None is one that was not measured or published.
Value = str | float | int | None
#: Stands for a value that there is not.
NOTHING = "-"


def number(value: float | None, decimals: int) -> str:
    """Format a number; a dash for None, NaN and infinity."""
    return NOTHING if value is None or not math.isfinite(value) else f"{value:.{decimals}f}"


def count(value: float | None) -> str:
    """Format a number of packets, flows or bytes with commas; a dash for None."""
    return NOTHING if value is None else f"{value:,.0f}"


@dataclass(frozen=True)
class Shown:
    """A value of a table with the text that people read in its place."""

    value: Value
    text: str


@dataclass(frozen=True)
class Column(Generic[Subject]):
    """A quantity of a subject: its key with its unit in files, and its heading for people.

    ``of``: takes the value from the subject; it is in the unit of the key. ``decimals``: of the
    number for people. ``words``: the quantity as an axis of a figure or a row of a comparison has
    it. ``less_is_better``: whether the best run has the least. ``shown``: makes the text for
    people, where it is more than the number; a text is shown as it is. ``for_people``: whether
    tables for people have it; a column without a key is for people alone. ``counts``: whether its
    values are whole numbers of packets, flows or bytes, which people read with commas.
    """

    key: str
    heading: str
    of: Callable[[Subject], Value]
    decimals: int = 0
    words: str = ""
    less_is_better: bool = False
    shown: Callable[[Subject], str] | None = None
    for_people: bool = True
    counts: bool = False

    def text(self, subject: Subject) -> str:
        """Return the value of a subject as people read it."""
        return self.cell(subject).text

    def cell(self, subject: Subject) -> Shown:
        """Return the value of a subject with its text."""
        value = self.of(subject)
        if self.shown is not None:
            return Shown(value, self.shown(subject))
        if isinstance(value, str):
            return Shown(value, value)
        return Shown(value, count(value) if self.counts else number(value, self.decimals))

    @property
    def hidden(self) -> Column[Subject]:
        """The same column for programs alone."""
        return replace(self, for_people=False)

    def seen_from(self, part: Callable[[Whole], Subject | None]) -> Column[Whole]:
        """Return the same column of subjects that have this column's subject as a part.

        ``part``: returns it, or None if a subject has none, and then the value is None, as it is
        in place of NaN.
        """

        def of(whole: Whole) -> Value:
            subject = part(whole)
            value = None if subject is None else self.of(subject)
            return None if isinstance(value, float) and math.isnan(value) else value

        def shown(whole: Whole) -> str:
            subject = part(whole)
            return NOTHING if subject is None else self.text(subject)

        return Column(
            key=self.key,
            heading=self.heading,
            of=of,
            decimals=self.decimals,
            words=self.words,
            less_is_better=self.less_is_better,
            shown=None if self.shown is None else shown,
            for_people=self.for_people,
            counts=self.counts,
        )

    def number_of(self, subject: Subject) -> float:
        """Return the value of a subject as a number; NaN where there is none."""
        value = self.of(subject)
        return value if isinstance(value, int | float) else math.nan


def given(key: str, heading: str = "", decimals: int = 0) -> Column[Value]:
    """Return a column whose values a table is given; without a heading for programs alone."""
    return Column(key, heading, lambda value: value, decimals, for_people=bool(heading))
