"""Comparison: intervals, Holm's correction and numbers of runs, against published examples."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.metrics.significance import (
    bootstrap_interval,
    holm,
    power_of,
    runs_needed,
    welch,
)

PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_the_bootstrap_of_a_normal_mean_is_as_wide_as_its_formula() -> None:
    values = np.random.default_rng(7).normal(10.0, 2.0, 400)
    interval = bootstrap_interval(list(values), statistic=np.mean)
    half_width = 1.96 * statistics.stdev(values) / math.sqrt(len(values))
    assert interval.high - interval.low == pytest.approx(2 * half_width, rel=0.06)
    assert interval.low < statistics.fmean(values) < interval.high


def test_intervals_of_95_percent_hold_the_true_median_in_some_95_of_100_samples() -> None:
    rng = np.random.default_rng(3)
    samples = [list(rng.exponential(1.0, 15)) for _ in range(200)]
    intervals = [bootstrap_interval(sample) for sample in samples]
    held = sum(each.low <= math.log(2) <= each.high for each in intervals)
    # 95 of 100 are 190; within three standard deviations of that count
    assert 180 <= held <= 200


def test_a_single_value_has_no_interval() -> None:
    assert not bootstrap_interval([1.0]).is_known
    assert not bootstrap_interval([1.0, 2.0], [3.0], statistic=lambda a, b, axis: a).is_known


def test_equal_samples_have_equal_intervals() -> None:
    values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]
    assert bootstrap_interval(values) == bootstrap_interval(values)


def test_welch_is_that_of_students_sleep_data() -> None:
    # Student, 1908; R's manual prints p-value = 0.07939 for t.test(extra ~ group, data = sleep)
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    assert welch(first, second) == pytest.approx(0.07939, abs=5e-6)


def test_what_never_varies_cannot_be_tested() -> None:
    assert math.isnan(welch([1.0, 1.0], [2.0, 2.0]))
    assert math.isnan(welch([1.0], [2.0, 3.0]))


def test_holm_rejects_the_two_of_four_that_its_textbook_example_rejects() -> None:
    corrected = holm([0.01, 0.04, 0.03, 0.005])
    assert corrected == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert [each <= 0.05 for each in corrected] == [True, False, False, True]


@given(PROBABILITIES)
def test_holm_lies_between_no_correction_and_bonferronis_and_keeps_the_order(
    probabilities: list[float],
) -> None:
    corrected = holm(probabilities)
    for before, after in zip(probabilities, corrected, strict=True):
        assert before <= after <= min(1.0, len(probabilities) * before)
    order = sorted(range(len(probabilities)), key=lambda number: probabilities[number])
    assert [corrected[number] for number in order] == sorted(corrected)


def test_what_could_not_be_tested_does_not_count_among_the_comparisons() -> None:
    first, unknown, last = holm([0.01, math.nan, 0.04])
    assert (first, last) == (0.02, 0.04)
    assert math.isnan(unknown)


#: n of each of two groups for a power of 0.80 at 5 %, two-sided (Cohen 1988, table 2.4.1; G*Power).
@pytest.mark.parametrize(("effect", "runs"), [(0.2, 394), (0.5, 64), (0.8, 26), (1.0, 17)])
def test_the_runs_that_a_difference_needs_are_those_of_cohens_tables(
    effect: float, runs: int
) -> None:
    assert runs_needed([-1.0, 0.0, 1.0], effect) == runs
    assert power_of(runs - 1, 1.0, effect) < 0.8 <= power_of(runs, 1.0, effect)


def test_the_power_is_how_often_the_test_really_finds_the_difference() -> None:
    rng = np.random.default_rng(11)
    found = [
        welch(list(rng.normal(0.0, 1.0, 17)), list(rng.normal(1.0, 1.0, 17))) <= 0.05
        for _ in range(400)
    ]
    assert statistics.fmean(found) == pytest.approx(power_of(17, 1.0, 1.0), abs=0.06)


def test_no_spread_needs_two_runs_one_run_says_nothing_and_a_tiny_difference_no_number() -> None:
    assert runs_needed([5.0, 5.0, 5.0], 0.1) == 2
    assert runs_needed([5.0], 0.1) is None
    assert runs_needed([0.0, 1.0], 1e-6) is None
