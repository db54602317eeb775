"""Arrivals of datagrams: deviations from their spacing, without a clock of the sender."""

from __future__ import annotations

import math

import pytest

from farpath.spec.datagram_arrivals import MOST_BIN, ArrivalNotes, quantile_us

SPACING_NS = 10_000.0


def noted(arrivals: list[tuple[int, int]]) -> ArrivalNotes:
    """What is noted of numbers and times in ns."""
    notes = ArrivalNotes(SPACING_NS)
    for number, at_ns in arrivals:
        notes.add(number, at_ns)
    return notes


def test_datagrams_at_their_spacing_have_no_jitter() -> None:
    result = noted([(n, 7 + 10_000 * n) for n in range(1, 6)]).result()
    assert result == {"deviations": 4, "jitter_us": 0.0, "most_us": 0.0, "histogram": [[0, 4]]}


def test_a_datagram_that_waits_deviates_twice_itself_and_the_one_after_it() -> None:
    result = noted([(1, 10_000), (2, 25_000), (3, 30_000), (4, 40_000)]).result()
    assert result["histogram"] == [[-5, 1], [0, 1], [5, 1]]
    assert result["jitter_us"] == pytest.approx(10 / 3)
    assert result["most_us"] == 5.0


def test_a_lost_datagram_is_no_deviation_and_a_late_one_is_left_out() -> None:
    result = noted([(1, 10_000), (3, 30_000), (2, 31_000), (4, 40_000)]).result()
    assert (result["deviations"], result["jitter_us"]) == (2, 0.0)


def test_without_two_datagrams_there_is_no_jitter() -> None:
    result = noted([(1, 10_000)]).result()
    assert (result["deviations"], result["jitter_us"], result["histogram"]) == (0, None, [])


def test_the_outermost_bins_hold_all_that_is_farther_off() -> None:
    result = noted([(1, 0), (2, 10**9), (3, 10**9 + 1)]).result()
    assert result["histogram"] == [[-10, 1], [MOST_BIN, 1]]


def test_a_quantile_is_of_the_deviations_sizes() -> None:
    histogram = [[-4, 1], [0, 8], [4, 1]]
    assert quantile_us(histogram, 0.8) == 0.0
    assert quantile_us(histogram, 0.99) == 4.0
    assert math.isnan(quantile_us([], 0.99))
