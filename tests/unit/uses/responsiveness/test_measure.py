"""Responsiveness: round trips per minute of probes, and when a test is over."""

from __future__ import annotations

import json

import pytest

from farpath.base.errors import LabFailedError
from farpath.uses.responsiveness.measure import (
    FOREIGN,
    HANDSHAKE,
    HIGH,
    LOADED,
    LOW,
    MEDIUM,
    Method,
    Probe,
    Responsiveness,
    RpmProgress,
    confidence,
    result_of,
    rpm_of,
    trimmed_mean,
)
from tests.support.refusals import refused

#: Short intervals, as tests in the lab have them.
METHOD = Method(interval_s=1.0, limit_s=20.0)


def new_connection(end_s: float, handshake_ms: float, foreign_ms: float) -> Probe:
    return Probe(end_s - 0.1, end_s, {HANDSHAKE: handshake_ms, FOREIGN: foreign_ms})


def loaded(end_s: float, time_ms: float) -> Probe:
    return Probe(end_s - 0.1, end_s, {LOADED: time_ms})


def test_rpm_weighs_handshake_and_request_alike_and_new_and_loaded_connections_alike() -> None:
    rpm = rpm_of([new_connection(1, 40, 80), loaded(1, 300)], 0.95)
    assert (rpm.foreign, rpm.loaded, rpm.mean) == (1000, 200, 600)


def test_an_idle_path_has_the_rpm_of_new_connections() -> None:
    assert rpm_of([new_connection(0, 50, 50)], 0.95).mean == 1200


def test_the_slowest_twentieth_of_the_probes_does_not_count() -> None:
    assert trimmed_mean([10.0] * 19 + [1e6], 0.95) == 10.0
    assert trimmed_mean([10.0] * 18 + [1e6] * 2, 0.95) > 10.0


def test_without_a_probe_that_came_back_there_is_no_rpm() -> None:
    with pytest.raises(LabFailedError, match="no probe came back"):
        rpm_of([], 0.95)


def test_a_test_ends_when_goodput_and_then_responsiveness_are_stable() -> None:
    progress, probes = RpmProgress(METHOD), []
    for second in range(1, 20):
        probes += [new_connection(second, 50, 50), loaded(second, 100)]
        interval = progress.add(second, 1_000_000, probes)
        # Goodput after four intervals; then four values of RPM
        assert (interval.rpm is None) == (second <= 4)
        if progress.ended:
            break
    assert second == 8
    assert confidence(progress.goodput_averages, METHOD) == HIGH
    found = result_of(progress, [new_connection(-1, 50, 50)], probes)
    assert (found.rpm_confidence, found.rpm.mean, found.goodput_bps) == (HIGH, 900, 8e6)
    assert found.percentiles_ms[LOADED] == {"p50": 100, "p95": 100, "p99": 100}


def test_a_test_that_never_settles_ends_with_its_time_and_says_so() -> None:
    progress, probes = RpmProgress(METHOD), []
    while not progress.ended:
        second = len(progress.intervals) + 1
        time_ms = 1000 * 0.5**second
        probes += [new_connection(second, time_ms, time_ms), loaded(second, time_ms)]
        progress.add(second, 10_000_000 * second**3, probes)
    assert progress.intervals[-1].end_s == METHOD.limit_s
    assert confidence(progress.goodput_averages, METHOD) == MEDIUM
    assert result_of(progress, probes, probes).rpm_confidence == MEDIUM


def test_confidence_is_low_before_enough_intervals_have_been() -> None:
    assert confidence([1.0, 1.0, 1.0], METHOD) == LOW


def test_rpm_counts_probes_of_the_last_four_intervals_only() -> None:
    progress = RpmProgress(METHOD)
    probes = [new_connection(0.5, 1e4, 1e4), loaded(0.5, 1e4)]
    probes += [one for at in range(2, 9) for one in (new_connection(at, 50, 50), loaded(at, 50))]
    while not progress.ended:
        progress.add(1, 1_000_000, probes)
    assert result_of(progress, probes[:1], probes).rpm.mean == 1200


def test_probes_take_at_most_a_twentieth_of_the_goodput() -> None:
    assert Method().pairs_per_s(10e6) * 6000 * 8 == pytest.approx(0.05 * 10e6)


def test_a_result_is_the_same_after_json() -> None:
    progress = RpmProgress(METHOD)
    probes = [one for at in range(9) for one in (new_connection(at, 5, 5), loaded(at, 5))]
    while not progress.ended:
        progress.add(1, 1_000, probes)
    found = result_of(progress, probes[:2], probes)
    assert Responsiveness.from_dict(json.loads(json.dumps(found.as_dict()))) == found


@pytest.mark.parametrize(
    ("values", "option"),
    [({"direction": "sideways"}, "direction"), ({"limit_s": 39.0}, "timeout")],
)
def test_a_method_refuses_what_it_cannot_do(values: dict[str, object], option: str) -> None:
    with refused(option):
        Method(**values)  # type: ignore[arg-type]
