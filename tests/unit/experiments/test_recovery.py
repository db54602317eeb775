"""Recovery: what a window's course says of it."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from experiments.recovery import analysis as recovery
from farpath.metrics.window_recovery import find_recovery
from tests.support.paths import THOUSAND_PACKETS

FELL_S = 10.0


def course(until_s: float, per_s: float = 10.0, before: float = 1000.0) -> pd.DataFrame:
    """A window sampled each second that halves at 10 s and grows by so many packets a second."""
    times = [float(t_s) for t_s in range(1, int(until_s) + 1)]
    windows = [
        before if t_s < FELL_S else min(before, before / 2 + per_s * (t_s - FELL_S))
        for t_s in times
    ]
    return pd.DataFrame({"t_s": times, "window": windows})


def test_a_recovery_that_was_seen_ends_when_the_window_is_what_it_was() -> None:
    result = find_recovery(course(80), FELL_S, THOUSAND_PACKETS)
    assert result is not None
    assert result.complete
    assert (result.before_packets, result.after_packets) == (1000, 510)
    assert result.time_s == pytest.approx(50, abs=1)


def test_one_whose_end_was_not_seen_is_continued_by_its_growth() -> None:
    result = find_recovery(course(25), FELL_S, THOUSAND_PACKETS)
    assert result is not None
    assert not result.complete
    assert result.time_s == pytest.approx(50)
    assert result.observed_s == 14


@pytest.mark.parametrize("until_s", [9, 11])
def test_too_little_growth_says_nothing(until_s: float) -> None:
    assert find_recovery(course(until_s), FELL_S, THOUSAND_PACKETS) is None


def test_a_window_that_did_not_fall_did_not_recover() -> None:
    steady = course(80)
    steady["window"] = 1000.0
    assert find_recovery(steady, FELL_S, THOUSAND_PACKETS) is None


def test_a_congestion_window_beyond_the_receivers_counts_no_more_than_that() -> None:
    result = find_recovery(course(200, before=1800), FELL_S, THOUSAND_PACKETS)
    assert result is not None
    assert result.before_packets == 1000
    assert result.time_s == pytest.approx(10, abs=1)


def test_a_window_that_falls_in_two_steps_has_fallen_after_the_second() -> None:
    windows = course(80)
    at_once = pd.DataFrame({"t_s": [FELL_S + 0.25], "window": [1000.0]})
    reduced = pd.DataFrame({"t_s": [FELL_S + 0.4], "window": [500.0]})
    windows = pd.concat([windows, at_once, reduced]).sort_values("t_s", ignore_index=True)
    result = find_recovery(windows, FELL_S, THOUSAND_PACKETS)
    assert result is not None
    assert result.after_packets == 500
    assert result.time_s == pytest.approx(50, abs=1)


def test_the_formula_is_the_published_one_for_both_ack_policies() -> None:
    path = dataclasses.replace(THOUSAND_PACKETS, rtt_ms=180, rate_bps=10**9, mtu_bytes=1500)
    assert recovery.formula_s(path, 1) == pytest.approx(1387, abs=1)
    assert recovery.formula_s(path, 2) == 2 * recovery.formula_s(path, 1)
