"""Registry: all mechanisms, found as ``mechanism.py`` of folders of ``farpath/mechanisms``.

Further folders can hold some too: add their directory to ``farpath.mechanisms.__path__`` before
any other part of farpath is imported, since the options of a run are made of the mechanisms found.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import farpath.mechanisms
from farpath.base.column import Column, Value
from farpath.base.folders import modules_of
from farpath.base.options import Option
from farpath.mechanisms.mechanism import Findings, Mechanism, Output, Panel, Recorded, Texts
from farpath.spec.plan import Plan


@cache
def mechanisms() -> tuple[Mechanism, ...]:
    """Return all mechanisms in their order."""
    modules = modules_of(farpath.mechanisms.__name__, "mechanism")
    found: list[Mechanism] = [module.MECHANISM for module in modules]
    return tuple(sorted(found, key=lambda mechanism: mechanism.order))


@cache
def mechanism_options() -> Mapping[str, Option]:
    """Return the options of all mechanisms by name."""
    return {
        name: option for mechanism in mechanisms() for name, option in mechanism.options.items()
    }


@cache
def program_options(with_time: bool = True) -> tuple[str, ...]:
    """Return the names of those options that a user's programs can have too.

    ``with_time``: whether the programs have a time limit, on which some mechanisms depend.
    """
    found = [one for one in mechanisms() if one.of_programs and (with_time or one.lasts is None)]
    return tuple(name for one in found for name in one.options)


def lasts(plan: Plan) -> bool:
    """Whether a mechanism does something in a plan that depends on its schedule's length."""
    return any(mechanism.lasts is not None and mechanism.lasts(plan) for mechanism in mechanisms())


@cache
def path_options() -> tuple[str, ...]:
    """Return the names of those options that change the path, and not only the plan."""
    return tuple(name for one in mechanisms() if one.apply_path for name in one.options)


def apply_options(plan: Plan, texts: Mapping[str, str | None]) -> Plan:
    """Return a plan with the mechanisms that options ask for, by name; None for one left out."""
    for mechanism in mechanisms():
        given = {name: text for name in mechanism.options if (text := texts.get(name)) is not None}
        if given:
            plan = mechanism.apply(plan, given)
    return plan


def texts_of(plan: Plan) -> Texts:
    """Return the options that ask for the mechanisms of a plan."""
    return {name: text for one in mechanisms() for name, text in one.texts(plan).items()}


@cache
def mechanism_columns() -> tuple[Column[Recorded], ...]:
    """Return the columns that mechanisms add to the results of a run."""
    return tuple(column for mechanism in mechanisms() for column in mechanism.columns)


def values_of(record: Recorded) -> Mapping[str, Value]:
    """Return the values of the columns of mechanisms in a run, by key; None is left out."""
    values = {column.key: column.of(record) for column in mechanism_columns()}
    return {key: value for key, value in values.items() if value is not None}


def mechanism_lines(record: Recorded) -> list[str]:
    """Return what all mechanisms did in a run, as lines for a terminal."""
    return [line for mechanism in mechanisms() for line in mechanism.lines(record)]


def panels_of(record: Recorded) -> list[Panel]:
    """Return the panels of mechanisms in the figure of a run."""
    panels = (mechanism.panel(record) for mechanism in mechanisms())
    return [panel for panel in panels if panel is not None]


def examine(output: Output) -> Findings:
    """Return the findings of all mechanisms in a run; raises the errors of their checks."""
    findings = [mechanism.examine(output) for mechanism in mechanisms()]
    return Findings(
        {name: entry for one in findings for name, entry in one.readback.items()},
        [sentence for one in findings for sentence in one.warnings],
        [part for one in findings for part in one.parts],
    )
