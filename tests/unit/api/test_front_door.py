"""The front door of the package: what ``import farpath`` offers, and that it costs nothing."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable

import pytest

import farpath
from farpath.base.options import options_of
from farpath.planning.request import RunRequest
from tests.support.processes import completed

HEAVY = ("matplotlib", "numpy", "pandas", "pydantic", "rich", "typer", "farpath.lab")


def test_importing_it_loads_no_heavy_library() -> None:
    code = f"import sys, farpath; print([name for name in {HEAVY!r} if name in sys.modules])"
    ended = completed([sys.executable, "-c", code], check=True)
    assert ended.stdout == "[]\n"


def test_it_offers_what_it_names_and_nothing_else() -> None:
    assert {"run", "sweep", "load", "compare", "RunResult", "SweepResult"} <= set(dir(farpath))
    with pytest.raises(AttributeError, match="no attribute 'walk'"):
        _ = farpath.walk  # type: ignore[attr-defined]


def test_each_of_its_errors_is_caught_by_its_name() -> None:
    errors = (
        farpath.BadInputError, farpath.MachineLacksError, farpath.LabFailedError,
        farpath.CheckFailedError,
    )  # fmt: skip
    assert [error.exit_status for error in errors] == [2, 3, 4, 5]
    assert all(issubclass(error, farpath.FarpathError) for error in errors)
    with pytest.raises(farpath.BadInputError, match="rtt"):
        farpath.run(rtt="5x")


@pytest.mark.parametrize("function", [farpath.run, farpath.sweep])
def test_help_and_completion_know_each_option_of_a_run(function: Callable[..., object]) -> None:
    parameters = inspect.signature(function).parameters
    assert {option.name for option in options_of(RunRequest)} <= set(parameters)
    assert parameters["stack"].default == RunRequest().stack
