"""Estimates from a few repeats: means, confidence intervals, medians and rank correlation."""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from farpath.base.errors import MachineLacksError

#: The probability with which an interval contains the mean.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over ``count`` values, and half of its 95 % confidence interval.

    Both have the unit of the values. ``half_width`` is NaN with fewer than two values.
    """

    mean: float
    half_width: float
    count: int


def estimate(values: Sequence[float]) -> Estimate:
    """Return mean and interval by Student's t: mean +- t(n - 1) s / sqrt(n).

    The values are assumed to be independent and approximately normal. The mean is NaN without
    values, or if one of them is NaN.

    >>> three = estimate([1.0, 2.0, 3.0])
    >>> three.mean, round(three.half_width, 3), three.count
    (2.0, 2.484, 3)
    >>> estimate([5.0]).half_width
    nan
    """
    if not values:
        return Estimate(math.nan, math.nan, 0)
    mean = statistics.fmean(values)
    if len(values) < 2 or not math.isfinite(mean):
        return Estimate(mean, math.nan, len(values))
    quantile = student_t(len(values) - 1, (1 + CONFIDENCE) / 2)
    half_width = quantile * statistics.stdev(values) / math.sqrt(len(values))
    return Estimate(mean, half_width, len(values))


def estimate_over_seeds(values: Sequence[float], fingerprints: Sequence[str]) -> Estimate:
    """Return mean and interval over seeds; runs that are equal packet for packet have no interval.

    ``fingerprints``: of the runs. Nothing in equal runs is random, so that they are one draw,
    and an interval of 0 would say that the mean is known.

    >>> estimate_over_seeds([5.0, 5.0], ["a", "a"]).half_width
    nan
    """
    estimated = estimate(values)
    if are_alike(fingerprints):
        return Estimate(estimated.mean, math.nan, estimated.count)
    return estimated


@dataclass(frozen=True)
class Spread:
    """The median of ``count`` values, the least and the largest of them, in their unit."""

    median: float
    least: float
    most: float
    count: int

    def text(self, shown: Callable[[float], str]) -> str:
        """Return the median, and the range behind it where several values are not shown alike.

        >>> spread([1.0, 5.0, 2.0]).text("{:g}".format), spread([2.0]).text("{:g}".format)
        ('2 (1-5)', '2')
        """
        median, least, most = (shown(value) for value in (self.median, self.least, self.most))
        return median if least == most else f"{median} ({least}-{most})"


def spread(values: Sequence[float]) -> Spread:
    """Return median and range of the values that are not NaN; NaN without any."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return Spread(math.nan, math.nan, math.nan, 0)
    return Spread(statistics.median(known), min(known), max(known), len(known))


def are_alike(fingerprints: Sequence[str]) -> bool:
    """Whether several runs are equal packet for packet, so that seeds decide nothing in them."""
    return len(fingerprints) > 1 and len(set(fingerprints)) == 1


def student_t(df: int, probability: float) -> float:
    """Return the quantile of Student's t distribution with ``df`` degrees of freedom.

    >>> round(student_t(4, 0.975), 3)
    2.776
    """
    return float(scipy_part("special").stdtrit(df, probability))


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's rank correlation, -1 to 1; equal values share their mean rank.

    It is NaN with fewer than two pairs or where all values of one side are equal.

    >>> round(spearman([1.0, 2.0, 3.0, 4.0], [10.0, 30.0, 20.0, 40.0]), 3)
    0.8
    """
    if len(first) < 2 or len(set(first)) == 1 or len(set(second)) == 1:
        return math.nan
    return float(scipy_part("stats").spearmanr(first, second).statistic)


def scipy_part(part: str) -> Any:
    """Import a part of SciPy, which only campaigns need; raise MachineLacksError without it."""
    try:
        return importlib.import_module(f"scipy.{part}")
    except ImportError as error:
        raise MachineLacksError(
            "SciPy is missing, which means over seeds need: run 'make setup' in farpath's clone"
        ) from error
