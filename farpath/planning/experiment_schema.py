"""Schema of experiment.toml: the fields of the file and of its tables ``[[runs]]``."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from farpath.planning.request import RunRequest
from farpath.planning.stack_texts import parse_stacks

#: Entry of ``minutes`` for stacks without an entry of their own.
OTHERS = "others"
_OPTIONS = tuple(field.name for field in dataclasses.fields(RunRequest))


def _as_text(value: object) -> str:
    if type(value) not in (str, int):
        raise ValueError(f"{value!r} is neither a text nor a whole number")
    return str(value)


def _check_values(values: list[str]) -> list[str]:
    if not values or len(set(values)) < len(values):
        raise ValueError(f"holds nothing, or something twice: {values}")
    return values


#: The values of an option as texts. The file has one text or whole number, or a list of them.
Values = Annotated[
    list[Annotated[str, BeforeValidator(_as_text)]],
    BeforeValidator(lambda given: given if isinstance(given, list) else [given]),
    AfterValidator(_check_values),
]
#: Minutes by the name of a stack. The file may have one number for all of them.
Minutes = Annotated[
    dict[str, Annotated[float, Field(gt=0, lt=1e6)]],
    BeforeValidator(lambda given: given if isinstance(given, dict) else {OTHERS: given}),
]


class Options(BaseModel, extra="allow"):
    """Options of ``farpath run``, each with its values, in the file's order."""

    __pydantic_extra__: dict[str, Values]

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            raise ValueError("is no table; write [[runs]], [runs.quick] or [runs.cpu]")
        known = (*_OPTIONS, *cls.model_fields)
        if unknown := [name for name in table if name not in known]:
            raise ValueError(f"{unknown[0]}: unknown field; the fields are {', '.join(known)}")
        return table

    @property
    def options(self) -> dict[str, list[str]]:
        """The values of each option that the table has."""
        return self.__pydantic_extra__


class RunsTable(Options):
    """A table ``[[runs]]``: options, how its sets differ, and how long its runs take."""

    minutes: Minutes = {}
    quick: Options | None = None
    cpu: Options | None = None

    @model_validator(mode="after")
    def _check_minutes(self) -> Self:
        stacks = {name for text in self.options.get("stack", ()) for name in parse_stacks(text)}
        if unknown := [name for name in self.minutes if name not in (*stacks, OTHERS)]:
            raise ValueError(f"minutes.{unknown[0]}: is no stack of these runs, nor '{OTHERS}'")
        return self

    def minutes_of(self, stack: str) -> float:
        """Return the minutes that a run of a stack takes on one core; 1 if the table has none."""
        return self.minutes.get(stack, self.minutes.get(OTHERS, 1.0))


class ExperimentFile(BaseModel, extra="forbid"):
    """An experiment.toml: a title, and either tables of runs or the names of other experiments."""

    title: Annotated[str, Field(min_length=1)]
    of: list[str] = []
    held_out: list[str] = []
    runs: list[RunsTable] = []

    @model_validator(mode="after")
    def _check_runs(self) -> Self:
        if bool(self.runs) == bool(self.of):
            raise ValueError(
                "runs: say in tables [[runs]] what is to be run, or give in 'of' the names of "
                "other experiments, and no runs beside them"
            )
        return self
