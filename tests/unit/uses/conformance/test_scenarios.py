"""The shipped scenarios, and what a file of scenarios may hold."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.uses.conformance.scenario_measures import MEASURES
from farpath.uses.conformance.scenarios import FILE, Statement, book, scenarios_of


def test_each_stacks_scenarios_are_runs_that_are_allowed_and_have_names_of_their_own() -> None:
    for stack in book().stacks:
        scenarios = scenarios_of(stack)
        assert len({scenario.name for scenario in scenarios}) == len(scenarios)
        for scenario in scenarios:
            assert scenario.request(stack).plan().settings.trace_interval_s
            names = [statement.name for statement in scenario.statements]
            assert len(set(names)) == len(names)


def test_every_measure_and_every_document_is_used() -> None:
    statements = [each for scenario in book().scenarios for each in scenario.statements]
    assert {statement.measure for statement in statements} == set(MEASURES)
    assert {statement.document for statement in statements} == set(book().documents)


def test_parameters_of_a_stack_go_into_its_runs() -> None:
    (scenario,) = scenarios_of("cubic:beta=820", ["two-losses"])
    assert dict(scenario.request("cubic:beta=820").plan().stacks[0].parameters) == {"beta": "820"}


@pytest.mark.parametrize("stack", ["htcp", "cubic+reno", "cubic:beta=717+reno", "./tcp_mine.c"])
def test_a_stack_without_scenarios_is_refused(stack: str) -> None:
    with pytest.raises(BadInputError, match="no scenario is about"):
        scenarios_of(stack)


def _statement(**fields: object) -> Statement:
    common = {"name": "n", "document": "d", "section": "1", "says": "s", "level": "MUST"}
    return Statement(**{**common, "measure": "loss_window", "because": "b", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "value", "allowed"),
    [
        ({"tolerance": 0.1}, 2.19, True),
        ({"tolerance": 0.1}, 2.21, False),
        ({"tolerance": 0.1}, 1.79, False),
        ({"margin": 0.5}, 1.5, True),
        ({"bound": "at most"}, -5.0, True),
        ({"bound": "at most"}, 2.01, False),
        ({"bound": "at least"}, 9.0, True),
        ({"bound": "at least", "margin": 0.1}, 1.85, False),
    ],
)
def test_a_value_is_held_against_the_stated_one_by_bound_and_tolerance(
    fields: dict[str, object], value: float, allowed: bool
) -> None:
    assert _statement(**fields).allows(value, 2.0) is allowed


@pytest.mark.parametrize(
    ("word", "instead", "message"),
    [
        ('measure = "loss_window"', 'measure = "lost_window"', "lost_window is no measure"),
        ('document = "RFC 6928"', 'document = "RFC 1"', "start/initial-window names RFC 1"),
        ('level = "MAY"', 'level = "PERHAPS"', "level"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: FilePath, word: str, instead: str, message: str) -> None:
    text = FILE.read_text(encoding="utf-8")
    assert word in text
    file = tmp_path / "scenarios.toml"
    file.write_text(text.replace(word, instead, 1), encoding="utf-8")
    with pytest.raises(BadInputError, match=message):
        book(file)
