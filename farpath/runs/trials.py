"""Trials of a search: the file that keeps them, and Optuna's view of their parameters.

Optuna chooses the next trials (Akiba et al., *Optuna: A Next-generation Hyperparameter Optimization
Framework*, KDD 2019).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from farpath.base.documents import check_format_version, read_json
from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.files import write_text

if TYPE_CHECKING:
    import optuna

FORMAT_VERSION = 1
Number = int | float


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Interval:
    """The interval of a parameter's values; ``log``: whether it is searched in logarithms."""

    low: float
    high: float
    log: bool = False


def read_trials(file: FilePath) -> list[dict[str, Any]]:
    """Return all trials of a file, in their order; empty if there is no file yet.

    Raises BadInputError for a file that is damaged or of another version.
    """
    if not file.exists():
        return []
    data = read_json(file, "move it away")
    check_format_version(data, FORMAT_VERSION, file, "move it away")
    try:
        return list(data["trials"])
    except (KeyError, TypeError) as error:
        raise BadInputError(
            file=str(file), problem=f"is damaged: {error}", remedy="move it away"
        ) from error


def write_trials(file: FilePath, trials: Sequence[Mapping[str, Any]], **about: Any) -> None:
    """Write all trials, completely or not at all; ``about``: further entries of the file."""
    data = {"format_version": FORMAT_VERSION, **about, "trials": trials}
    write_text(file, json.dumps(data, indent=1) + "\n")


def load_optuna() -> ModuleType:
    """Return Optuna, which says warnings only; raise MachineLacksError without it."""
    try:
        import optuna
    except ImportError as error:
        raise MachineLacksError(
            "Optuna is missing: pip install 'farpath[fit]', or run 'make dev'"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def distributions(
    allowed: Mapping[str, Interval | range | list[Number] | Number],
) -> dict[str, optuna.distributions.BaseDistribution]:
    """Return Optuna's distribution of each parameter that varies.

    ``allowed``: an interval, whole numbers, a list of choices, or a fixed number.
    """
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    found: dict[str, optuna.distributions.BaseDistribution] = {}
    for name, values in allowed.items():
        if isinstance(values, list):
            found[name] = CategoricalDistribution(values)
        elif isinstance(values, Interval):
            found[name] = FloatDistribution(values.low, values.high, log=values.log)
        elif isinstance(values, range):
            found[name] = IntDistribution(values[0], values[-1])
    return found
