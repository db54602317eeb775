"""Traces of delivery opportunities: how many come when, and the rates that they make."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.spec import deliveries
from farpath.spec.deliveries import opportunities_before, rate_timeline

TRACES = st.lists(st.integers(0, 50), min_size=1, max_size=12).map(sorted).filter(lambda t: t[-1])


@given(TRACES, st.integers(0, 400))
def test_opportunities_are_counted_as_if_the_trace_were_written_out(
    times_ms: list[int], time_ms: int
) -> None:
    rounds = time_ms // times_ms[-1] + 1
    written_out = [time + number * times_ms[-1] for number in range(rounds) for time in times_ms]
    expected = sum(time < time_ms for time in written_out)
    assert opportunities_before(times_ms, time_ms / 1e3) == expected


def test_the_rate_of_each_second_adds_up_to_all_opportunities() -> None:
    times_ms = [*range(1, 300), 700]
    rates = rate_timeline(times_ms, 10.0)
    bits = opportunities_before(times_ms, 10.0) * 1514 * 8
    assert rates.integral(0.0, 10.0) == pytest.approx(bits)
    assert rates.mean == pytest.approx(deliveries.mean_rate_bps(times_ms), rel=0.06)


def test_a_packet_each_millisecond_is_twelve_megabits_of_frames() -> None:
    assert deliveries.mean_rate_bps(list(range(1, 1001))) == 12_112_000


def test_a_trace_that_is_too_long_is_named() -> None:
    assert "lines" in deliveries.trace_problem([1] * (deliveries.MOST_OPPORTUNITIES + 1))
    assert "ends at" in deliveries.trace_problem([deliveries.MOST_MS + 1])
    assert deliveries.trace_problem([0, 3, 3]) == ""
