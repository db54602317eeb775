"""The sawtooth of one Reno flow against its window, round trip by round trip."""

from __future__ import annotations

import pytest

from farpath.metrics.theory import sawtooth


def by_steps(bdp: int, buffer: int) -> tuple[float, float]:
    """Duration in base RTTs and utilisation of one tooth, a packet more in each round trip."""
    windows = range((bdp + buffer) // 2, bdp + buffer)
    rtts = sum(max(1.0, window / bdp) for window in windows)
    return rtts, sum(windows) / (rtts * bdp)


@pytest.mark.parametrize("buffer", [0, 20, 100, 200, 400, 800])
def test_duration_and_utilisation_are_those_of_the_window_step_by_step(buffer: int) -> None:
    rtts, utilisation = by_steps(200, buffer)
    climb_s = sawtooth.period_s(200, buffer, 0.05) - 2 * 0.05 * (200 + buffer) / 200
    assert climb_s == pytest.approx(rtts * 0.05, rel=0.01)
    assert sawtooth.utilisation(200, buffer) == pytest.approx(utilisation, rel=0.01)


def test_a_buffer_of_a_bandwidth_delay_product_is_enough_and_none_costs_a_quarter() -> None:
    assert sawtooth.utilisation(500, 0) == 0.75
    assert sawtooth.utilisation(500, 499) < 1
    assert sawtooth.utilisation(500, 500) == sawtooth.utilisation(500, 2000) == 1
