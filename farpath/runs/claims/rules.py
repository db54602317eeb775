"""The parts of a rule by which the measures or the runs of an experiment decide a claim.

The analysis.py of an experiment's folder has such rules by the ids of their claims: as ``CLAIMS``
those by measures, as ``RUN_CLAIMS`` those by runs.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath
from typing import Any, Protocol

from farpath.base.errors import FarpathError
from farpath.base.experiment_modules import ANALYSIS, experiment_module
from farpath.base.project import EXPERIMENTS
from farpath.metrics.measures import Measure, select_measures
from farpath.metrics.results import ResultSet
from farpath.runs.claims.verdict import Condition
from farpath.runs.experiment import experiment_names


class MissingRunsError(FarpathError):
    """The runs of a claim are missing; the message names them."""


@dataclass(frozen=True)
class Criteria:
    """The conditions of a claim, and remarks that decide nothing.

    ``least_seeds``: with fewer seeds the claim is undecided, because chance alone decides a single
    run.
    """

    conditions: tuple[Condition, ...]
    remarks: tuple[str, ...] = ()
    least_seeds: int = 1


#: A rule judges a claim by measures.
MeasureRule = Callable[[Sequence[Measure]], Criteria]


class RunRule(Protocol):
    """A rule that judges a claim by runs: by all of them, or by those of one seed."""

    def __call__(self, results: ResultSet, seed: int | None = None) -> Criteria:
        """Return the criteria; raise MissingRunsError naming the runs that are missing."""


@cache
def measure_rules(experiments: FilePath = EXPERIMENTS) -> Mapping[str, MeasureRule]:
    """Return the rules of all claims that measures of the experiments in a folder decide, by id."""
    return _joined(_by_experiment(experiments, "CLAIMS"))


@cache
def run_rules(experiments: FilePath = EXPERIMENTS) -> Mapping[str, RunRule]:
    """Return the rules of all claims that runs themselves decide, by id."""
    return _joined(_by_experiment(experiments, "RUN_CLAIMS"))


def _joined(by_experiment: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {id_: rule for rules in by_experiment.values() for id_, rule in rules.items()}


@cache
def _by_experiment(experiments: FilePath, name: str) -> Mapping[str, Mapping[str, Any]]:
    return {
        experiment: getattr(experiment_module(experiment, ANALYSIS, experiments), name, {})
        for experiment in experiment_names(experiments)
    }


def claims_of(experiment: str, experiments: FilePath = EXPERIMENTS) -> tuple[str, ...]:
    """Return the ids of the claims that an experiment's measures decide, if any."""
    return tuple(_by_experiment(experiments, "CLAIMS").get(experiment, ()))


def matching(
    measures: Iterable[Measure], experiment: str, quantity: str, **about: str
) -> list[Measure]:
    """Return the measures that match; raise MissingRunsError if there are none."""
    of_experiment = [measure for measure in measures if measure.experiment == experiment]
    matching = select_measures(of_experiment, quantity, **about)
    if not matching:
        options = ", ".join(about.values())
        raise MissingRunsError(
            f"missing runs of the experiment {experiment}{f': {options}' if options else ''}"
        )
    return matching


def within_theory(quantity: str, measures: Iterable[Measure], limit: float) -> Condition:
    """Return the condition that every measure is within ``limit`` of theory, as a fraction."""
    deviations = [abs(measure.value / measure.theory - 1) for measure in measures if measure.theory]
    largest = max(deviations, default=math.nan)
    return Condition(quantity, largest, "<=", limit)


def mean(measures: Sequence[Measure]) -> float:
    """Return the mean over seeds."""
    return statistics.fmean(measure.value for measure in measures)
