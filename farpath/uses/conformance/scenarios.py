"""Scenarios: statements of standards, and the runs that decide them (scenarios.toml)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.base.validation import validated
from farpath.runs.cases import RunCase, matching, read_cases
from farpath.uses.conformance.scenario_measures import MEASURES

if TYPE_CHECKING:
    pass

FILE = FilePath(__file__).with_name("scenarios.toml")


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Statement:
    """A statement of a document, and its comparison with a record.

    ``stated``: the value, None for one that ``measure`` has a formula for. It is compared as
    ``bound`` says; a value may be off by ``margin`` and by ``tolerance`` of the stated value.
    ``because``: the source of the tolerance. ``known``: why Linux differs knowingly, else empty.
    """

    name: str
    document: str
    section: str
    says: str
    level: Literal["MUST", "SHOULD", "MAY", "describes"]
    measure: str
    because: str
    stated: float | None = None
    unit: str = ""
    bound: Literal["equal", "at most", "at least"] = "equal"
    tolerance: float = 0.0
    margin: float = 0.0
    known: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown measure."""
        if self.measure not in MEASURES:
            raise ValueError(f"{self.measure} is no measure: allowed are {', '.join(MEASURES)}")

    def off_by(self, stated: float) -> float:
        """Return how far a value may be from the stated one."""
        return self.margin + self.tolerance * abs(stated)

    def allows(self, value: float, stated: float) -> bool:
        """Return whether a value is as stated."""
        off_by = self.off_by(stated)
        above, below = value > stated + off_by, value < stated - off_by
        if self.bound == "at most":
            return not above
        if self.bound == "at least":
            return not below
        return not above and not below


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Scenario(RunCase):
    """A run, the stacks that it is about, and the statements that its record decides."""

    stacks: tuple[str, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Book:
    """A file of scenarios, and the documents that they name: their titles by their short names."""

    documents: Mapping[str, str]
    scenarios: tuple[Scenario, ...]

    def __post_init__(self) -> None:
        """Raise ValueError for a statement of a document that is not listed."""
        for scenario in self.scenarios:
            for statement in scenario.statements:
                if statement.document not in self.documents:
                    raise ValueError(
                        f"{scenario.name}/{statement.name} names {statement.document}, which is "
                        "none of the documents"
                    )

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks that scenarios are about."""
        return tuple(dict.fromkeys(name for each in self.scenarios for name in each.stacks))


@cache
def book(file: FilePath = FILE) -> Book:
    """Return the scenarios in a file, by default the one that the project ships.

    Each also has the file's ``options``, unless it has its own. Raises BadInputError for an invalid
    field.
    """
    return validated(Book, read_cases(file, "scenarios"), str(file))


def scenarios_of(stack: str, only: Sequence[str] = ()) -> tuple[Scenario, ...]:
    """Return a stack's scenarios that match one of the patterns, by default all.

    ``stack``: a name of ``Book.stacks``, with parameters or without (``cubic:beta=717``). Raises
    BadInputError for another stack, and for a pattern that matches nothing.
    """
    name = stack.partition(":")[0]
    if name not in book().stacks or "+" in stack:
        raise BadInputError(
            problem=f"no scenario is about the stack '{stack}'",
            remedy=f"give one of {', '.join(book().stacks)}, with parameters or without",
        )
    selected = {each.name: each for each in book().scenarios if name in each.stacks}
    otherwise = f"{name} has no scenario of that name; give one of {', '.join(selected)}"
    return tuple(selected[each] for each in matching({n: (n,) for n in selected}, only, otherwise))
