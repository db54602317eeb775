"""HighSpeed TCP of 2004: RFC 3649's response function, and the a(w) and b(w) that make it."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from farpath.metrics.theory.window_rules import appendix_b, hstcp, hstcp_row
from farpath.spec.path import Path

from ..conftest import RunPlan, single_flow
from . import responses
from .mixed import rows_of

#: Table 3 of RFC 3649: W at each loss rate, for losses at equal distances.
PUBLISHED_WINDOW = {1e-2: 12, 1e-3: 38, 1e-4: 263, 1e-5: 1795}
#: Losses to run through at each: 4 million packets at the least rate.
LOSSES = {1e-2: 400, 1e-3: 300, 1e-4: 100, 1e-5: 40}
#: Some rows of appendix B: w, a(w), b(w).
APPENDIX_B = [(118, 2, 0.44), (1058, 8, 0.33), (5036, 20, 0.25), (14424, 35, 0.19)]

#: Samples of 0.1 s: twice the longest RTT here, so that a recovery is over.
QUIET_SAMPLES = 5


def test_the_rows_are_those_of_appendix_b() -> None:
    for window, increase, decrease in APPENDIX_B:
        assert appendix_b()[0][increase - 1] == window
        assert appendix_b()[1][increase - 1] == pytest.approx(decrease)


@pytest.mark.parametrize("loss", LOSSES)
def test_hstcp_has_the_window_of_its_response_function(run_plan: RunPlan, loss: float) -> None:
    # Losses at equal distances give table 3. Random ones give more, as for Reno, and
    # a(w) cut to whole numbers gives less, most where a(w) is small: both predicted.
    published = PUBLISHED_WINDOW[loss]
    measured = responses.measure(
        run_plan, "hstcp_2004", loss, published, LOSSES[loss], delayed_ack=False
    )
    responses.assert_follows(measured, hstcp(), published)


def _queued_path(packets: int) -> Path:
    """A path of 100 ms that loses a packet when a flow has more than so many on it."""
    path = responses.lossy_path(0.0, packets)
    half_bytes = packets // 2 * path.frame_bytes
    return dataclasses.replace(
        path, rtt_ms=100, rate_bps=half_bytes * 80, buffer_bytes=half_bytes, loss=0.0
    )


def _growth(rows: pd.DataFrame, packets_per_ack: int) -> tuple[float, float]:
    """Packets gained between samples without loss, and those that a(w) gives per RTT."""
    gained = expected = 0.0
    for k in range(QUIET_SAMPLES, len(rows)):
        if rows["retransmits"][k - QUIET_SAMPLES : k + 1].sum() == 0:
            gained += rows["cwnd"][k] - rows["cwnd"][k - 1]
            rtt_us = (rows["rtt_us"][k] + rows["rtt_us"][k - 1]) / 2
            rtts = (rows["t_s"][k] - rows["t_s"][k - 1]) * 1e6 / rtt_us
            expected += (hstcp_row(rows["cwnd"][k - 1]) + 1) / packets_per_ack * rtts
    return gained, expected


def _decreases(rows: pd.DataFrame) -> list[tuple[float, float]]:
    """Window before each loss, and the part of it that was taken."""
    decreases = []
    for k in range(QUIET_SAMPLES, len(rows) - QUIET_SAMPLES):
        quiet = rows["retransmits"][k - QUIET_SAMPLES : k].sum() == 0
        if quiet and rows["retransmits"][k] > 0:
            before = rows["cwnd"][k - 2 : k + 1].max()
            decreases.append((before, 1 - rows["cwnd"][k : k + QUIET_SAMPLES].min() / before))
    return decreases


@pytest.mark.parametrize(
    ("packets", "packets_per_ack", "duration_s"),
    [(300, 1, 20), (2000, 1, 20), (2000, 2, 30), (12000, 1, 22)],
)
def test_the_window_grows_by_a_and_falls_by_b_of_appendix_b(
    run_plan: RunPlan, packets: int, packets_per_ack: int, duration_s: int
) -> None:
    # Tolerances. a: 2 %, as the RTT of an interval is taken from its two ends and a
    # window is whole packets. b: between the last sample and the loss the window grows
    # by up to two a(w), and so again from the recovery's end to the next sample.
    plan = single_flow(
        "hstcp_2004",
        duration_s,
        _queued_path(packets),
        sample_interval_s=0.1,
        delayed_ack=packets_per_ack > 1,
    )
    rows = rows_of(run_plan(plan), "flow1", 5.0, duration_s)
    gained, expected = _growth(rows, packets_per_ack)
    print(f"packets gained {gained:.0f} / {expected:.0f} = {gained / expected:.3f}")
    decreases = _decreases(rows)
    for before, part in decreases:
        print(f"b({before:.0f}) {part:.3f} / {appendix_b()[1][hstcp_row(before)]:.2f}")
    assert gained / expected == pytest.approx(1, abs=0.02)
    assert decreases
    for before, part in decreases:
        tolerance = 4 * (hstcp_row(before) + 1) / before
        assert part == pytest.approx(appendix_b()[1][hstcp_row(before)], abs=tolerance)


def test_limited_slow_start_adds_half_of_max_ssthresh_per_rtt(run_plan: RunPlan) -> None:
    # RFC 3742, section 2: at most max_ssthresh / 2 per RTT above that window, against a
    # doubling. 4 %: K is a whole number, up to 1/27 less than cwnd / 50 from 1350 on.
    path = dataclasses.replace(responses.lossy_path(0.0, 4000), rtt_ms=100)
    plan = single_flow(
        "hstcp_2004:max_ssthresh=100", 5.0, path, sample_interval_s=0.1, delayed_ack=False
    )
    rows = rows_of(run_plan(plan), "flow1", 3.0, 5.0)
    steps = (rows["cwnd"].iloc[-1] - rows["cwnd"].iloc[0]) / (len(rows) - 1)
    print(f"packets per RTT from {rows['cwnd'].iloc[0]:.0f} on: {steps:.1f} / 50")
    assert steps == pytest.approx(50, rel=0.04)
