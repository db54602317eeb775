"""The criteria of a claim, and the measures that a rule of an experiment's own judges it by."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from farpath.base.errors import FarpathError
from farpath.metrics.measures import Measure, select_measures
from farpath.runs.claims.condition import Condition


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
