"""Significance of differences between runs: intervals, corrected tests, and the runs they need."""

from __future__ import annotations

import importlib.util
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from farpath.metrics.estimate import CONFIDENCE, scipy_part
from farpath.metrics.run import Array

#: A difference counts as seen where a test of this error finds it with this power.
ERROR, POWER = 1 - CONFIDENCE, 0.8
#: The difference of a share, in fair halves, whose number of runs is told.
SHARE_DIFFERENCE = 0.05
#: Resamples of a bootstrap: its percentiles then vary by less than a fiftieth of the spread.
RESAMPLES = 4999
#: The seed of all resampling, so that equal runs have equal intervals.
_RESAMPLING_SEED = 1
#: The largest number of runs that is sought.
_MOST_RUNS = 1_000_000


@dataclass(frozen=True)
class Interval:
    """A 95 % confidence interval in the unit of its values; NaN where there is none."""

    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether there is one."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def has_statistics() -> bool:
    """Whether SciPy is there, which all of this module but Holm's correction needs."""
    return importlib.util.find_spec("scipy") is not None


def median_along(values: Array, axis: int = -1) -> Array:
    """Return medians along an axis: the statistic of most intervals here."""
    medians: Array = np.median(values, axis=axis)
    return medians


def bootstrap_interval(
    *samples: Sequence[float], statistic: Callable[..., Array] = median_along
) -> Interval:
    """Return the percentile bootstrap's interval of a statistic of one or several samples.

    Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13. Each sample is
    drawn anew by itself. ``statistic``: takes an array for each sample and the keyword ``axis``.
    NaN unless each sample has two values or more, and without SciPy. Of five values the interval of
    a median is their range, which holds the true median in 94 % of all cases; intervals of other
    statistics of so few are too narrow.

    >>> bootstrap_interval([1.0, 2.0, 3.0, 4.0, 9.0])
    Interval(low=1.0, high=9.0)
    """
    if not has_statistics() or any(len(sample) < 2 for sample in samples):
        return Interval(math.nan, math.nan)
    found = scipy_part("stats").bootstrap(
        samples,
        statistic,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        vectorized=True,
        random_state=np.random.default_rng(_RESAMPLING_SEED),
    )
    return Interval(float(found.confidence_interval.low), float(found.confidence_interval.high))


def welch(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the probability of so large a difference of two means by chance (Welch, 1947).

    It is two-sided, and NaN with fewer than two values on a side, or where no value varies.

    >>> round(welch([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), 4)
    0.0213
    """
    if min(len(first), len(second)) < 2:
        return math.nan
    parts = [statistics.variance(side) / len(side) for side in (first, second)]
    if not sum(parts):
        return math.nan
    t = abs(statistics.fmean(first) - statistics.fmean(second)) / math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(side) - 1) for part, side in zip(parts, (first, second), strict=True)
    )
    return 2 * float(scipy_part("special").stdtr(freedom, -t))


def holm(probabilities: Sequence[float]) -> tuple[float, ...]:
    """Return the probabilities of several comparisons, corrected for their number.

    Holm, *A simple sequentially rejective multiple test procedure*, 1979: the smallest of n counts
    n times, the next n - 1 times, and none less than one before it. So one of 0.05 or less among
    them is there by chance in 5 % of all cases at most, however many there are. NaN counts for
    none, and stays.

    >>> holm([0.01, 0.04, 0.03, 0.005])
    (0.03, 0.06, 0.06, 0.02)
    """
    order = sorted(
        (number for number, each in enumerate(probabilities) if not math.isnan(each)),
        key=lambda number: probabilities[number],
    )
    corrected = list(probabilities)
    least = 0.0
    for rank, number in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * probabilities[number]))
        corrected[number] = least
    return tuple(corrected)


def power_of(runs: int, spread: float, difference: float) -> float:
    """Return the chance that a test sees a difference of two means, of ``runs`` values each.

    The test is Student's for two samples, two-sided, at an error of 5 %. ``spread``: the standard
    deviation of either's values. Cohen, *Statistical Power Analysis for the Behavioral Sciences*,
    1988, section 2.5: by the noncentral t distribution.

    >>> round(power_of(17, 1.0, 1.0), 2)
    0.81
    """
    special, freedom = scipy_part("special"), 2 * (runs - 1)
    centre = difference / spread * math.sqrt(runs / 2)
    edge = float(special.stdtrit(freedom, 1 - ERROR / 2))
    within = special.nctdtr(freedom, centre, edge) - special.nctdtr(freedom, centre, -edge)
    return 1 - float(within)


def runs_needed(values: Sequence[float], difference: float) -> int | None:
    """Return how many runs on either side see a difference of means with a power of 80 %.

    ``values``: of runs made, whose standard deviation stands for both sides. ``difference``: above
    0, in their unit. None with fewer than two values, if a million do not suffice, and without
    SciPy.

    >>> runs_needed([-1.0, 0.0, 1.0], 0.5), runs_needed([3.0, 3.0], 0.1)
    (64, 2)
    """
    if not has_statistics() or len(values) < 2:
        return None
    spread = statistics.stdev(values)
    if not spread:
        return 2
    enough = 2
    while power_of(enough, spread, difference) < POWER:
        enough *= 2
        if enough > _MOST_RUNS:
            return None
    least = max(2, enough // 2)
    while least < enough:
        middle = (least + enough) // 2
        if power_of(middle, spread, difference) < POWER:
            least = middle + 1
        else:
            enough = middle
    return enough
