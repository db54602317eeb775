"""TCP-Africa is HighSpeed TCP on an empty path and Reno once there is a queue."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.metrics.theory.window_rules import appendix_b, hstcp_row
from tests.support.paths import SHORT

from ..conftest import RunPlan, single_flow
from .mixed import rows_of

#: Samples of 0.1 s, an RTT each, in which a loss is over.
QUIET_SAMPLES = 5


def test_with_a_queue_it_grows_by_one_packet_per_rtt_and_halves(run_plan: RunPlan) -> None:
    # The flow's share of the queue is above alpha, 1.641 packets, all the time: slow
    # mode. 2 %: windows are whole packets.
    path = dataclasses.replace(
        SHORT, rtt_ms=20, rate_bps=100_000_000, buffer_bytes=375_000, loss=0.0
    )
    plan = single_flow("africa", 30.0, path, sample_interval_s=0.1, delayed_ack=False)
    rows = rows_of(run_plan(plan), "flow1", 3.0, 30.0)
    quiet = rows["retransmits"].rolling(QUIET_SAMPLES).sum() == 0
    gained = rows["cwnd"].diff()[quiet].sum()
    rtts = (rows["t_s"].diff() * 1e6 / rows["rtt_us"])[quiet].sum()
    falls = [
        rows["cwnd"][k : k + QUIET_SAMPLES].min() / rows["cwnd"][k - 1]
        for k in rows.index[QUIET_SAMPLES:-QUIET_SAMPLES]
        if rows["retransmits"][k] > 0 and quiet[k - 1]
    ]
    print(f"packets per RTT {gained / rtts:.3f} / 1, where HSTCP gains {hstcp_row(300) + 1}")
    print("window after a loss:", [f"{fall:.3f}" for fall in falls], "/ 0.5")
    assert gained / rtts == pytest.approx(1, rel=0.02)
    assert falls
    assert falls == pytest.approx([0.5] * len(falls), abs=0.02)


def test_without_a_queue_it_grows_by_a_and_falls_by_b_of_hstcp(run_plan: RunPlan) -> None:
    # Random losses keep the window below what would queue: fast mode.
    path = dataclasses.replace(
        SHORT,
        rtt_ms=100,
        rate_bps=10_000_000_000,
        buffer_bytes=20_000_000,
        loss=3e-5,
        window_bytes=16_777_216,
    )
    plan = single_flow("africa", 60.0, path, sample_interval_s=0.1, delayed_ack=False)
    rows = rows_of(run_plan(plan), "flow1", 3.0, 60.0)
    quiet = rows["retransmits"].rolling(QUIET_SAMPLES).sum() == 0
    gained = rows["cwnd"].diff()[quiet].sum()
    rtts = rows["t_s"].diff() * 1e6 / rows["rtt_us"]
    expected = sum((hstcp_row(rows["cwnd"][k - 1]) + 1) * rtts[k] for k in rows.index[quiet])
    print(f"packets gained {gained:.0f} / {expected:.0f} = {gained / expected:.3f}")
    falls = [
        (rows["cwnd"][k - 1], 1 - rows["cwnd"][k : k + QUIET_SAMPLES].min() / rows["cwnd"][k - 1])
        for k in rows.index[QUIET_SAMPLES:-QUIET_SAMPLES]
        if rows["retransmits"][k] > 0
        and quiet[k - 1]
        and rows["retransmits"][k + 1 : k + QUIET_SAMPLES].sum() == 0
    ]
    for before, part in falls:
        print(f"b({before:.0f}) {part:.3f} / {appendix_b()[1][hstcp_row(before)]:.2f}")
    assert gained / expected == pytest.approx(1, abs=0.03)
    assert falls
    for before, part in falls:
        assert part == pytest.approx(appendix_b()[1][hstcp_row(before)], abs=0.02)
