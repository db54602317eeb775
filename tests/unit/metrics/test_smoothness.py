"""Smoothness: the variation of a rate and its largest fall, at a time scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.metrics.smoothness import smoothness


def test_a_constant_rate_is_perfectly_smooth() -> None:
    found = smoothness(np.full(20, 5e6), 20.0)
    assert (found.cov, found.largest_fall) == (0.0, 0.0)


def test_a_sawtooth_that_halves_falls_by_a_half_and_varies_by_its_formula() -> None:
    # From W/2 to W in 50 steps: the deviation of a uniform value of that width over its mean
    teeth = np.tile(np.linspace(0.5, 1.0, 50), 6)
    found = smoothness(teeth, 20.0)
    assert found.largest_fall == pytest.approx(0.5)
    assert found.cov == pytest.approx(0.5 / 12**0.5 / 0.75, rel=0.03)


def test_a_longer_rtt_has_a_longer_scale_at_which_alternation_is_smooth() -> None:
    alternating = np.tile([2.0, 6.0], 10)
    assert smoothness(alternating, 20.0).largest_fall == pytest.approx(2 / 3)
    found = smoothness(alternating, 1200.0)
    assert (found.scale_s, found.largest_fall) == (2, 0.0)


def test_too_few_intervals_and_silence_have_no_smoothness() -> None:
    assert smoothness(np.array([1.0, 2.0]), 20.0).cov is None
    assert smoothness(np.zeros(9), 20.0).largest_fall is None


#: Throughputs in bit/s: less than one is none.
RATES = st.just(0.0) | st.floats(1, 1e9)


@given(st.lists(RATES, min_size=3, max_size=30), st.floats(0.1, 10))
def test_falls_lie_between_nothing_and_all_and_know_no_unit(
    rates: list[float], factor: float
) -> None:
    found = smoothness(np.array(rates), 20.0)
    if found.largest_fall is not None:
        assert 0 <= found.largest_fall <= 1
        scaled = smoothness(factor * np.array(rates), 20.0)
        assert scaled.largest_fall == pytest.approx(found.largest_fall, abs=1e-6)
