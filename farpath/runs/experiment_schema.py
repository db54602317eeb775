"""Schema of experiment.toml: the fields of the file and of its tables ``[[runs]]``."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from farpath.planning.request import RunRequest
from farpath.planning.stack_texts import parse_stacks

#: Entry of ``minutes`` for stacks without an entry of their own.
OTHERS = "others"
#: How the names of a ladder's mechanisms begin that have all steps up to one, and all but one, and
#: the name of the one that has all.
UP_TO, ALL_BUT, ALL_STEPS = "to-", "without-", "tuned"
_OPTIONS = tuple(field.name for field in dataclasses.fields(RunRequest))
#: What a mechanism may change: all but what tells the runs of one apart.
_CHANGEABLE = tuple(name for name in _OPTIONS if name not in ("seed", "region", "schedule"))


def _as_text(value: object) -> str:
    if type(value) not in (str, int):
        raise ValueError(f"{value!r} is neither a text nor a whole number")
    return str(value)


def _check_values(values: list[str]) -> list[str]:
    if not values or len(set(values)) < len(values):
        raise ValueError(f"holds nothing, or something twice: {values}")
    return values


#: One value of an option as text.
Text = Annotated[str, BeforeValidator(_as_text)]
#: The values of an option as texts. The file has one text or whole number, or a list of them.
Values = Annotated[
    list[Text],
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


class Mechanism(BaseModel, extra="forbid"):
    """A table ``[[runs.mechanisms]]``: options that it changes in all runs of its table.

    ``only``: options that it changes in runs of single stacks, by the stacks' names. ``together``:
    the mechanisms of the same table that it consists of.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    title: Annotated[str, Field(min_length=1)]
    options: dict[str, Text] = {}
    only: dict[str, dict[str, Text]] = {}
    together: list[str] = []

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        for changes in (self.options, *self.only.values()):
            if wrong := [name for name in changes if name not in _CHANGEABLE]:
                raise ValueError(f"{wrong[0]}: a mechanism may change {', '.join(_CHANGEABLE)}")
        if "stack" in self.options:
            raise ValueError("stack: give the parameters of a stack in 'only', by its name")
        return self


class RunsTable(Options):
    """A table ``[[runs]]``: options, how its sets differ, and how long its runs take.

    ``mechanisms``: with any, all runs are made once with each of them. ``ladder``: names of some of
    them, to which it adds those that have all up to each (``to-<name>``), all (``tuned``), and all
    but one (``without-<name>``).
    """

    minutes: Minutes = {}
    quick: Options | None = None
    cpu: Options | None = None
    mechanisms: list[Mechanism] = []
    ladder: Annotated[list[str], Field(min_length=2)] | None = None

    @model_validator(mode="after")
    def _add_ladder(self) -> Self:
        titles = {mechanism.name: mechanism.title for mechanism in self.mechanisms}
        steps = self.ladder or []
        if unknown := [name for name in steps if name not in titles]:
            raise ValueError(f"ladder: {unknown[0]} is none of {', '.join(titles)}")
        for number, name in enumerate(steps[1:-1], start=2):
            title = f"all up to: {titles[name]}"
            self.mechanisms.append(
                Mechanism(name=f"{UP_TO}{name}", title=title, together=steps[:number])
            )
        if steps:
            self.mechanisms.append(Mechanism(name=ALL_STEPS, title="all of these", together=steps))
        for name in steps:
            others = [step for step in steps if step != name]
            title = f"all but: {titles[name]}"
            self.mechanisms.append(Mechanism(name=f"{ALL_BUT}{name}", title=title, together=others))
        return self

    @model_validator(mode="after")
    def _check_minutes(self) -> Self:
        stacks = {name for text in self.options.get("stack", ()) for name in parse_stacks(text)}
        if unknown := [name for name in self.minutes if name not in (*stacks, OTHERS)]:
            raise ValueError(f"minutes.{unknown[0]}: is no stack of these runs, nor '{OTHERS}'")
        return self

    @model_validator(mode="after")
    def _check_mechanisms(self) -> Self:
        names = [mechanism.name for mechanism in self.mechanisms]
        if len(set(names)) < len(names):
            raise ValueError(f"mechanisms: a name is there twice: {', '.join(names)}")
        stacks = {name for text in self.options.get("stack", ()) for name in parse_stacks(text)}
        stack_names = {text.partition(":")[0] for text in stacks}
        for index, mechanism in enumerate(self.mechanisms):
            parts = {part.name: part for part in self.mechanisms if not part.together}
            if unknown := [name for name in mechanism.together if name not in parts]:
                raise ValueError(
                    f"mechanisms.{index}.together: {unknown[0]} is none of {', '.join(parts)}"
                )
            if unknown := [name for name in mechanism.only if name not in stack_names]:
                raise ValueError(f"mechanisms.{index}.only: {unknown[0]} is no stack of these runs")
        return self

    def minutes_of(self, stack: str) -> float:
        """Return the minutes that a run of a stack takes on one core; 1 if the table has none."""
        return self.minutes.get(stack, self.minutes.get(OTHERS, 1.0))

    def changes_of(self, mechanism: Mechanism, stack: str) -> list[dict[str, str]]:
        """Return the changes that a mechanism makes to a run of a stack, in their order."""
        parts = [part for part in self.mechanisms if part.name in mechanism.together]
        return [
            changes
            for part in (*parts, mechanism)
            for changes in (part.options, part.only.get(stack, {}))
            if changes
        ]


class ExperimentFile(BaseModel, extra="forbid"):
    """An experiment.toml: a title, and either tables of runs or the names of other experiments.

    Each table of runs also has the file's ``options``, unless it has its own values of them.
    """

    title: Annotated[str, Field(min_length=1)]
    of: list[str] = []
    held_out: list[str] = []
    report: str = ""
    runs: list[RunsTable] = []

    @model_validator(mode="before")
    @classmethod
    def _share_options(cls, data: Any) -> Any:
        options, tables = data.get("options", {}), data.get("runs", [])
        if not isinstance(options, dict) or not isinstance(tables, list):
            return data
        shared = [{**options, **table} if isinstance(table, dict) else table for table in tables]
        return {**{name: data[name] for name in data if name != "options"}, "runs": shared}

    @model_validator(mode="after")
    def _check_runs(self) -> Self:
        if bool(self.runs) == bool(self.of):
            raise ValueError(
                "runs: say in tables [[runs]] what is to be run, or give in 'of' the names of "
                "other experiments, and no runs beside them"
            )
        return self
