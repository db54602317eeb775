"""Changes of a rate or an RTT: their times, and what holds when."""

from __future__ import annotations

import pytest

from farpath.spec.changes import RateChanges, RttChanges, Timeline, timeline, times_problem
from tests.support.refusals import refused


def test_a_value_holds_from_its_time_on_until_the_next() -> None:
    rates = Timeline((0.0, 2.0, 4.0), (40.0, 10.0, 40.0), 6.0)
    assert [rates.at(time_s) for time_s in (0, 1.999, 2, 3.999, 4, 6)] == [40, 40, 10, 10, 40, 40]


@pytest.mark.parametrize(
    ("start_s", "stop_s", "integral"),
    [(0, 6, 80 + 20 + 80), (1, 3, 40 + 10), (2, 4, 20), (2.5, 3, 5), (5, 8, 120), (3, 3, 0)],
)
def test_the_integral_of_a_rate_is_what_it_carries(
    start_s: float, stop_s: float, integral: float
) -> None:
    rates = Timeline((0.0, 2.0, 4.0), (40.0, 10.0, 40.0), 6.0)
    assert rates.integral(start_s, stop_s) == pytest.approx(integral)
    assert rates.mean == pytest.approx(30.0)


def test_a_value_that_never_changes_is_its_own_mean() -> None:
    assert timeline(7, None, (), 5.0) == Timeline((0.0,), (7,), 5.0)
    assert timeline(7, None, (), 5.0).mean == 7


def test_values_begin_again_with_the_first_after_their_period() -> None:
    changes = RttChanges((15.0, 30.0, 45.0), 60.0, (60.0, 50.0, 40.0))
    rtts = timeline(50.0, changes, changes.rtt_ms, 100.0)
    assert [rtts.at(time_s) for time_s in (0, 15, 30, 45, 60, 75, 90)] == [
        *(50, 60, 50, 40, 50, 60, 50)
    ]


def test_changes_after_the_runs_end_and_to_the_same_value_are_left_out() -> None:
    changes = RateChanges((1.0, 2.0, 9.0), 0.0, (5, 5, 7))
    assert timeline(4, changes, changes.rate_bps, 6.0).changes == ((1.0, 5),)


@pytest.mark.parametrize(
    ("at_s", "period_s", "problem"),
    [
        ((), 0.0, "it has 0 changes"),
        ((0.0,), 0.0, "it changes at 0 s"),
        ((2.0, 1.0), 0.0, "its times must rise"),
        ((1.0, 2.0), 2.0, "it begins again after 2 s"),
    ],
)
def test_times_that_make_no_sense_are_named(
    at_s: tuple[float, ...], period_s: float, problem: str
) -> None:
    assert times_problem(at_s, period_s).startswith(problem)
    with refused("rate"):
        RateChanges(at_s, period_s, (1,) * len(at_s)).check((0, 10))


def test_each_time_has_a_value_within_the_range() -> None:
    with refused("rate"):
        RateChanges((1.0, 2.0), 0.0, (5,)).check((0, 10))
    with refused("rtt"):
        RttChanges((1.0,), 0.0, (11.0,)).check((0, 10))
