"""The time of a delivery in slow start, by hand."""

from __future__ import annotations

import pytest

from farpath.metrics.theory.slow_start import delivery_time_s

#: So fast a bottleneck that a packet takes no time.
AT_ONCE_S = 1e-9


@pytest.mark.parametrize(
    ("packets", "round_trips"), [(1, 1), (10, 1), (11, 2), (30, 2), (31, 3), (310, 5), (346, 6)]
)
def test_a_window_of_ten_that_doubles_takes_whole_round_trips(
    packets: int, round_trips: int
) -> None:
    assert delivery_time_s(packets, 0.1, AT_ONCE_S) == pytest.approx(0.1 * round_trips, rel=1e-4)


def test_once_the_window_fills_the_path_the_rest_comes_at_the_bottleneck_s_rate() -> None:
    # BDP 20: rounds of 10 and 20 packets; from the second the link is busy
    assert delivery_time_s(1000, 0.1, 0.005) == pytest.approx(0.2 + 990 * 0.005)


def test_on_a_path_that_holds_less_than_the_first_window_the_rate_decides() -> None:
    assert delivery_time_s(1000, 0.01, 0.01) == pytest.approx(0.01 + 1000 * 0.01)
