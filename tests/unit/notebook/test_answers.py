"""What lessons measure, of records whose curves are known, and what theory says of their plans."""

from __future__ import annotations

import math
from pathlib import Path as FilePath

import pandas as pd
import pytest

from farpath.notebook import answers
from tests.support.lesson_runs import plan_of, write_lesson_run

SLOW = {"rtt": "50ms", "rate": "10Mbit", "buffer": "1BDP", "time": "20s"}


def saw(t_s: float, _flow: int = 0) -> float:
    """A window of 80 packets that is halved every three seconds, over two samples."""
    since_s = t_s % 3
    return 60.0 if since_s < 0.05 else 40.0 + 40.0 * (since_s - 0.1) / 2.9


def test_the_time_between_losses_is_counted_without_the_first(tmp_path: FilePath) -> None:
    record = write_lesson_run(tmp_path / "a", plan_of(stack="reno", **SLOW), saw)
    assert len(answers.loss_times_s(record)) == 6
    assert answers.TOOTH_S.measured(record) == pytest.approx(3.0, abs=0.11)
    theory_s = answers.TOOTH_S.theory(record.plan)
    assert theory_s == pytest.approx(3.30, abs=0.01)


def test_without_losses_there_is_no_time_between_them(tmp_path: FilePath) -> None:
    record = write_lesson_run(tmp_path / "a", plan_of(stack="reno", **SLOW))
    assert math.isnan(answers.TOOTH_S.measured(record))


def test_formulas_of_reno_say_nothing_of_other_stacks() -> None:
    for stack in ("cubic", "bbr", "2xreno"):
        plan = plan_of(stack=stack, loss="1e-3", **SLOW)
        for answer in (answers.TOOTH_S, answers.UTILISATION_PERCENT, answers.LOSSY_RATE):
            assert answer.theory(plan) is None
    assert answers.FIRST_SHARE_PERCENT.theory(plan) is None
    assert answers.LOADED_RTT_MS.theory(plan_of(stack="bbr", **SLOW)) is None


def test_a_page_is_timed_from_the_first_data_to_its_acknowledgement(tmp_path: FilePath) -> None:
    times_s = [0.1 * step for step in range(40)]
    trace = pd.DataFrame(
        {
            "t_s": times_s,
            "in_flight_packets": [1 if t_s < 0.55 else 10 for t_s in times_s],
            "bytes_acked": [38 if t_s < 0.55 else round(250_000 * (t_s - 0.6)) for t_s in times_s],
        }
    )
    plan = plan_of(rtt="100ms", rate="100Mbit", stack="reno", time="5s", trace="100ms")
    record = write_lesson_run(tmp_path / "a", plan, trace=trace)
    assert answers.START_MS.measured(record) == pytest.approx(2000)
    # Six round trips, and 36 packets of 0.12 ms after the 310 of the first five
    assert answers.START_MS.theory(plan) == pytest.approx(604, abs=1)
    short = write_lesson_run(tmp_path / "b", plan, trace=trace[:10])
    assert math.isnan(answers.START_MS.measured(short))


def test_shares_and_ratios_are_of_the_means_after_the_first_quarter(tmp_path: FilePath) -> None:
    plan = plan_of(rtt="20ms", senders="rtt=40ms", rate="20Mbit", buffer="40packets",
                   stack="reno+reno", time="20s")  # fmt: skip
    record = write_lesson_run(
        tmp_path / "a", plan, throughput_mbps=lambda t_s, flow: 9 - 6 * flow if t_s > 5 else 50.0
    )
    assert answers.FIRST_SHARE_PERCENT.measured(record) == pytest.approx(75)
    assert answers.RTT_RATIO.measured(record) == pytest.approx(3)
    # 40 packets take 24.2 ms, of which half waits on average
    assert answers.RTT_RATIO.theory(plan) == pytest.approx((52.1 / 32.1) ** 2, rel=0.01)
    assert answers.RTT_RATIO.theory(plan_of(stack="cubic+cubic", **SLOW)) is None


def test_a_rate_with_loss_is_mathis_s_and_no_more_than_the_link_s() -> None:
    options = {"rtt": "50ms", "stack": "reno", "time": "20s"}
    lossy = plan_of(rate="100Mbit", loss="1e-3", **options)
    assert answers.LOSSY_RATE.theory(lossy) == pytest.approx(8.97, abs=0.01)
    narrow = plan_of(rate="5Mbit", loss="1e-3", **options)
    assert answers.LOSSY_RATE.theory(narrow) == answers.PAYLOAD_RATE.theory(narrow)
    assert answers.LOSSY_RATE.theory(plan_of(rate="5Mbit", **options)) is None


def test_a_full_buffer_adds_its_time_to_the_rtt(tmp_path: FilePath) -> None:
    plan = plan_of(stack="cubic", rtt="20ms", rate="10Mbit", buffer="250kB", time="20s")
    assert answers.LOADED_RTT_MS.theory(plan) == pytest.approx(220)
    record = write_lesson_run(tmp_path / "a", plan, rtt_ms=lambda t_s, _flow: 10 * t_s)
    assert answers.LOADED_RTT_MS.measured(record) == pytest.approx(192.5, abs=1.5)


def test_a_prediction_is_right_within_the_tolerance_on_either_side() -> None:
    assert answers.TOOTH_S.is_right(2.4, 3.0)
    assert answers.TOOTH_S.is_right(3.6, 3.0)
    assert not answers.TOOTH_S.is_right(3.7, 3.0)
    assert not answers.TOOTH_S.is_right(3.0, math.nan)
