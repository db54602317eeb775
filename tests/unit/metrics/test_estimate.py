"""Estimate: means, intervals and ranks against values from tables."""

from __future__ import annotations

import math
import statistics
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.base.errors import MachineLacksError
from farpath.metrics.estimate import estimate, spearman

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=10)


#: Two-sided 95 % quantiles of Student's t as textbooks print them, by degrees of freedom.
@pytest.mark.parametrize(("freedom", "quantile"), [(1, 12.706), (2, 4.303), (4, 2.776)])
def test_the_interval_is_students(freedom: int, quantile: float) -> None:
    values = [float(value) for value in range(freedom + 1)]
    expected = quantile * statistics.stdev(values) / math.sqrt(freedom + 1)
    assert estimate(values).half_width == pytest.approx(
        expected, rel=2e-4
    )  # printed to three decimals


@given(VALUES, st.floats(-1e3, 1e3))
def test_a_shift_moves_the_mean_and_keeps_the_interval(values: list[float], shift: float) -> None:
    estimated, moved = estimate(values), estimate([value + shift for value in values])
    assert moved.mean == pytest.approx(estimated.mean + shift, abs=1e-6)
    assert moved.half_width == pytest.approx(estimated.half_width, abs=1e-4)


def test_one_value_has_no_interval_none_no_mean_and_a_gap_makes_all_undefined() -> None:
    assert (estimate([3.0]).mean, estimate([3.0]).count) == (3.0, 1)
    assert math.isnan(estimate([3.0]).half_width)
    assert math.isnan(estimate([]).mean)
    assert math.isnan(estimate([1.0, math.nan]).mean)


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=9, unique=True))
def test_ranks_agree_with_themselves_and_oppose_their_negative(values: list[int]) -> None:
    numbers = [float(value) for value in values]
    assert spearman(numbers, [3 * number + 1 for number in numbers]) == pytest.approx(1)
    assert spearman(numbers, [-number for number in numbers]) == pytest.approx(-1)


def test_ranks_of_equal_values_are_undefined() -> None:
    assert math.isnan(spearman([1.0, 1.0], [1.0, 2.0]))


def test_without_scipy_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(MachineLacksError, match=r"SciPy is missing, .*run 'make setup'"):
        estimate([1.0, 2.0])
