"""Figures of the benchmark: differences, extrapolation, errors and goals."""

from __future__ import annotations

import pytest

from benchmarks.lab import figure
from benchmarks.lab.figure import Goal
from tests.support.queues import queue_samples

RATE_BPS = 8_000


def test_speed_comes_from_the_difference_and_so_not_from_the_start() -> None:
    start_s = 1.5
    delivered = (100 * 1448, 1100 * 1448)
    took = (start_s + 0.1, start_s + 1.1)
    assert figure.packets_per_s(delivered, took) == pytest.approx(1000)


@pytest.mark.parametrize(("more_bytes", "longer_s"), [(2e6, 1.0), (2e6, 0.5), (1e6, 2.0)])
def test_no_speed_where_the_longer_run_took_or_carried_no_more(
    more_bytes: float, longer_s: float
) -> None:
    assert figure.packets_per_s((1e6, more_bytes), (1.0, longer_s)) is None


def test_extrapolation_leaves_the_start_as_it_is() -> None:
    assert figure.extrapolated(3.0, 3.0, 1.0, 100.0) == 3.0
    assert figure.extrapolated(3.0, 1.0, 1.0, 100.0) == 201.0
    assert figure.extrapolated(3.0, 1.0, 7.0, 7.0) == 3.0


def test_rate_error_counts_the_longest_backlog_alone() -> None:
    queue = queue_samples(
        (0, 0, 0), (1, 3, 10), (2, 0, 900), (3, 4, 1000), (4, 4, 2001), (5, 1, 3002)
    )
    assert [sample.t_s for sample in figure.longest_backlog(queue)] == [3, 4, 5]
    assert figure.rate_error_percent(queue, RATE_BPS) == pytest.approx(0.1)


def test_rate_error_is_unknown_without_two_samples_of_a_backlog() -> None:
    assert figure.rate_error_percent([], RATE_BPS) is None
    assert (
        figure.rate_error_percent(queue_samples((0, 0, 0), (1, 5, 9), (2, 0, 99)), RATE_BPS) is None
    )


def test_a_goal_is_reached_on_its_side_and_at_its_number() -> None:
    assert Goal(90, at_most=True).reached_by(90)
    assert not Goal(90, at_most=True).reached_by(90.1)
    assert Goal(150, at_most=False).reached_by(150)
    assert not Goal(150, at_most=False).reached_by(149)
