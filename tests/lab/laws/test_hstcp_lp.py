"""HSTCP-LP takes what is free, and gives it up when another flow comes."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.metrics.theory.window_rules import hstcp_row
from farpath.spec.path import Path
from tests.support.paths import MEDIUM, SHORT

from ..conftest import RunPlan, single_flow
from .mixed import Visit, plan_of, rows_of
from .responses import PAYLOAD_BYTES

#: TCP-LP's threshold: an indication above this part of the delays seen.
THRESHOLD = 0.15
#: Counted in whole milliseconds, and by an average that lags: the queue at an
#: indication is up to this much more.
LATE_MS = 1.0


def _path() -> Path:
    """20 ms and a buffer of as much again: 825 packets on the way, 825 queued."""
    return dataclasses.replace(
        SHORT,
        rtt_ms=20,
        rate_bps=500_000_000,
        buffer_bytes=1_250_000,
        loss=0.0,
    )


def _packets_per_ms(path: Path) -> float:
    return path.rate_bps / 8e3 / path.frame_bytes


def _goodput_bps(path: Path) -> float:
    """The most that a flow's payload can have."""
    return path.rate_bps * PAYLOAD_BYTES / path.frame_bytes


def _windows_at_indications(path: Path) -> tuple[float, float]:
    """The least and the largest window at which the queue indicates congestion."""
    buffer_ms = path.buffer_bytes * 8e3 / path.rate_bps
    least_ms = path.rtt_ms + THRESHOLD * buffer_ms
    rate = _packets_per_ms(path)
    return least_ms * rate, (least_ms + LATE_MS) * rate


def _use_alone(path: Path, window: float) -> float:
    """Part of the path that a flow takes which halves at ``window``.

    It holds the half for three RTTs, then grows by a(w) per RTT, halved by delayed ACKs.
    """
    fits = path.rtt_ms * _packets_per_ms(path)
    now = window / 2
    sent_packets, taken_ms = 3 * now, 3 * path.rtt_ms
    while now < window:
        sent_packets += now
        taken_ms += max(path.rtt_ms, now / _packets_per_ms(path))
        now += (hstcp_row(now) + 1) / 2
    assert now / 2 < fits
    return sent_packets / taken_ms / _packets_per_ms(path)


def test_alone_it_takes_what_its_sawtooth_can(run_plan: RunPlan) -> None:
    # Its own queue, too, indicates congestion, and halving leaves the path partly empty.
    # 3 %: the time that is looked at does not hold whole teeth.
    path = _path()
    record = run_plan(single_flow("hstcp_lp", 30.0, path, sample_interval_s=0.1))
    rows = rows_of(record, "flow1", 4.0, 30.0)
    peaks = [
        rows["cwnd"][k - 1] for k in rows.index[1:] if rows["cwnd"][k] < 0.6 * rows["cwnd"][k - 1]
    ]
    least, most = _windows_at_indications(path)
    print(f"windows halved: {[round(peak) for peak in peaks]} / {least:.0f} to {most:.0f}")
    used = rows["throughput_bps"].mean() / _goodput_bps(path)
    expected = _use_alone(path, (least + most) / 2)
    print(f"part of the path used: {used:.3f} / {expected:.3f}")
    assert len(peaks) >= 3
    # A sample is up to 5 RTTs before the indication, in which the window grows by a(w).
    assert all(least - 5 * (hstcp_row(peak) + 1) < peak < most for peak in peaks)
    assert rows["retransmits"].sum() == 0
    assert used == pytest.approx(expected, rel=0.03)


def test_a_clock_of_10_ms_sees_a_queue_when_it_is_longer_than_a_tick(run_plan: RunPlan) -> None:
    # Linux 2.4's: the threshold of 3 ms here is lost within a tick
    path = _path()
    record = run_plan(single_flow("hstcp_lp:tick_ms=10", 30.0, path, sample_interval_s=0.1))
    rows = rows_of(record, "flow1", 4.0, 30.0)
    peaks = [
        rows["cwnd"][k - 1] for k in rows.index[1:] if rows["cwnd"][k] < 0.6 * rows["cwnd"][k - 1]
    ]
    least = (path.rtt_ms + 10) * _packets_per_ms(path)
    print(f"windows halved: {[round(peak) for peak in peaks]} / more than {least:.0f}")
    assert peaks
    assert all(peak > least - 5 * (hstcp_row(peak) + 1) for peak in peaks)


@pytest.mark.parametrize("stack", ["reno", "reno_2004"])
def test_it_gives_the_path_to_reno_and_takes_it_back(run_plan: RunPlan, stack: str) -> None:
    # Reno alone fills this path, whose buffer holds a bandwidth-delay product. It
    # loses nothing to HSTCP-LP after the first second: 1 % of the path is what windows
    # of one to four packets take. Back again takes 13 s, as a(w) is small in small windows.
    path = _path()
    record = run_plan(
        plan_of(path, [Visit("hstcp_lp", 0, 45), Visit(stack, 10, 25)], sample_interval_s=0.1)
    )
    goodput_bps = _goodput_bps(path)
    shares = {
        name: rows_of(record, flow, start_s, stop_s)["throughput_bps"].mean() / goodput_bps
        for name, flow, start_s, stop_s in (
            ("before", "flow1", 4, 10),
            ("with reno", "flow1", 12, 25),
            ("reno", "flow2", 12, 25),
            ("after", "flow1", 40, 45),
        )
    }
    print("part of the path used:", {name: f"{share:.3f}" for name, share in shares.items()})
    assert shares["with reno"] < 0.01
    assert shares["reno"] > 0.98
    assert shares["before"] > 0.75
    assert shares["after"] > 0.75


def test_hstcp_does_not_give_way_to_reno(run_plan: RunPlan) -> None:
    # What the test above would see of a stack that does not yield.
    path = _path()
    record = run_plan(
        plan_of(
            path, [Visit("hstcp_2004", 0, 25), Visit("reno_2004", 10, 25)], sample_interval_s=0.1
        )
    )
    share = rows_of(record, "flow1", 12, 25)["throughput_bps"].mean() / _goodput_bps(path)
    print(f"part of the path that HSTCP keeps: {share:.3f}")
    assert share > 0.5


def test_alone_and_limited_by_its_receiver_it_halves_what_is_in_flight(run_plan: RunPlan) -> None:
    # The receiver's window of 8.4 MB on a path of 4.9 MB makes a queue; cwnd grows past
    # that window. Half of the window in flight is 85 % of the path, and leaves no queue.
    path = dataclasses.replace(MEDIUM, loss=0.0)
    record = run_plan(single_flow("hstcp_lp", 6.0, path))
    used = rows_of(record, "flow1", 3.0, 6.0)["throughput_bps"].mean() / _goodput_bps(path)
    expected = path.window_bytes / 2 / path.bdp_bytes
    print(f"part of the path used: {used:.3f} / at least {expected:.3f}, growing by a(w)")
    assert expected - 0.05 < used < 1.0
