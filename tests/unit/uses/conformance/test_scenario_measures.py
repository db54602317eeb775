"""Measures of records whose answer is known."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from farpath.metrics import flow as flow_metrics
from farpath.metrics.theory import cubic
from farpath.record.record import Record, Samples
from farpath.uses.conformance.scenario_measures import MEASURES
from tests.support.conformance_records import record_of

TICK_S = 0.01


def _measured(name: str, record: Record) -> float:
    return MEASURES[name](record).value


def _times(count: int) -> list[float]:
    return [number * TICK_S for number in range(count)]


def test_slow_start_is_measured_round_by_round() -> None:
    flights = [10, 20, 40, 80, 160, 320]
    rows = [{"t_s": t_s, "in_flight_packets": flights[int(t_s / 0.2)]} for t_s in _times(120)]
    record = record_of("reno", "start", rows)
    assert _measured("initial_window", record) == 10
    assert _measured("growth_per_round", record) == pytest.approx(2)


def test_an_exit_from_slow_start_before_a_loss_is_followed_for_an_rtt() -> None:
    rows = [
        {"t_s": t_s, "cwnd_packets": 100 + 2 * number, "ssthresh_packets": 100}
        for number, t_s in enumerate(_times(30))
    ]
    record = record_of("cubic", "slow-start", rows)
    assert _measured("growth_after_exit", record) == pytest.approx(1.2)
    assert _measured("lost_in_slow_start", record) == 0
    lost = record_of("cubic", "slow-start", [{**row, "retransmits": 1} for row in rows])
    assert MEASURES["growth_after_exit"](lost).why == "slow start did not end before a loss"
    assert _measured("lost_in_slow_start", lost) == 1


def _windows_by_state(windows: list[int], states: list[str]) -> list[dict[str, Any]]:
    """Rows of a trace: a window and a state at each tick."""
    return [
        {"t_s": t_s, "cwnd_packets": cwnd, "ca_state": state}
        for t_s, cwnd, state in zip(_times(len(windows)), windows, states, strict=True)
    ]


def test_a_window_is_given_back_after_a_timeout_that_was_spurious() -> None:
    windows, states = [88, 88, 1, 98, 106], ["open", "open", "loss", "open", "open"]
    rows = _windows_by_state(windows, states)
    record = record_of("cubic", "spurious-timeout", rows)
    assert _measured("window_after_spurious_timeout", record) == pytest.approx(98 / 88)
    kept = record_of(
        "cubic", "spurious-timeout", [row for row in rows if row["ca_state"] != "loss"]
    )
    assert MEASURES["window_after_spurious_timeout"](kept).why == "there was no timeout"


def test_a_window_is_given_back_after_a_loss_that_was_spurious() -> None:
    windows, states = [360, 68, 252, 365, 368], ["open", "recovery", "recovery", "open", "open"]
    rows = _windows_by_state(windows, states)
    record = record_of("cubic", "spurious-loss", rows)
    assert _measured("window_after_spurious_loss", record) == pytest.approx(365 / 360)


def _one_loss() -> list[dict[str, Any]]:
    """A flight of 100, a recovery to 50, and a packet gained in each RTT of 100 ms."""
    lost: list[dict[str, Any]] = [{"t_s": 0.0}, {"t_s": TICK_S}]
    recovery = {"ca_state": "recovery", "ssthresh_packets": 50, "cwnd_packets": 90}
    lost += [{"t_s": 2 * TICK_S, **recovery, "sacked_packets": 3, "retransmits": 1}]
    climb = [
        {"t_s": 0.03 + t_s, "ssthresh_packets": 50, "cwnd_packets": 50 + int(t_s / 0.1 + 1e-9)}
        for t_s in _times(1001)
    ]
    return [*lost, *({**row, "retransmits": 1} for row in climb)]


def test_a_loss_is_told_from_its_recovery_and_the_growth_after_it() -> None:
    record = record_of("reno", "one-loss", _one_loss())
    assert _measured("kept_fraction", record) == 0.5
    assert _measured("window_after_recovery", record) == 1
    assert _measured("growth_per_rtt", record) == pytest.approx(1)
    assert _measured("sacked_at_retransmission", record) == 3
    assert _measured("retransmissions", record) == 1


def test_a_probe_before_a_timeout_is_none_of_the_packets_sent_again_from_it_on() -> None:
    states = [("open", 0), ("open", 1), ("loss", 2), ("open", 2)]
    rows = [
        {"t_s": TICK_S * number, "ca_state": state, "retransmits": retransmits}
        for number, (state, retransmits) in enumerate(states)
    ]
    record = record_of("cubic", "spurious-timeout", rows)
    assert _measured("retransmissions", record) == 2
    assert _measured("sent_again_from_timeout", record) == 1


@pytest.mark.parametrize(
    "name",
    [
        *("kept_fraction", "growth_per_rtt", "constant_c", "loss_window", "timeout_growth"),
        "sent_again_from_timeout",
    ],
)
def test_what_did_not_happen_is_not_measured_and_why_is_said(name: str) -> None:
    measured = MEASURES[name](record_of("reno", "one-loss", [{"t_s": t_s} for t_s in _times(10)]))
    assert math.isnan(measured.value)
    assert measured.why


def test_timeouts_are_told_by_their_state() -> None:
    lost = {"ca_state": "loss", "cwnd_packets": 1, "ssthresh_packets": 43, "unacked_packets": 43}
    timeouts_us = [300_000, 600_000, 600_000, 1_200_000]
    rows = [{"t_s": number * 1.0, **lost, "rto_us": us} for number, us in enumerate(timeouts_us)]
    answered = {"t_s": 9.0, **lost, "rto_us": 301_000, "bytes_acked": 6_000_000}
    record = record_of("reno", "timeout", [*rows, answered])
    assert _measured("loss_window", record) == 1
    assert _measured("kept_after_timeout", record) == 1
    assert _measured("timeout_growth", record) == 2
    assert _measured("least_timeout_s", record) == pytest.approx(0.3)


def test_repairs_are_timed_in_rtts() -> None:
    rows = [{"t_s": t_s, "retransmits": int(t_s / 0.1 + 1e-9)} for t_s in _times(90)]
    record = record_of("reno", "without-sack", rows)
    assert _measured("rtts_between_repairs", record) == pytest.approx(1)


def test_a_mean_window_is_that_of_the_last_epochs() -> None:
    epochs = [900, 50, 40, 40, 40, 40, 40]
    rows = [
        {
            "t_s": epoch + step / 10,
            "cwnd_packets": window,
            "ca_state": "recovery" if step == 9 else "open",
        }
        for epoch, window in enumerate(epochs)
        for step in range(10)
    ]
    measured = MEASURES["mean_window_of_reno"](record_of("reno", "response", rows))
    assert measured.value == pytest.approx(40)
    assert measured.stated == pytest.approx(math.sqrt(1.5 * 1000))


def _cubic_rows(constant: float) -> list[dict[str, Any]]:
    """W_max of 500, and then of 0.85 times a window of 490: with a constant C, to ten thousandths.

    Real windows are whole packets; here they are not, so that the fit is the only approximation.
    """
    rows: list[dict[str, Any]] = [{"t_s": 0.0, "cwnd_packets": 500.0}]
    for w_max, start, lost_at in ((500.0, 350.0, 490.0), (416.5, 343.0, 450.0)):
        offset = rows[-1]["t_s"] + 0.002
        rows.append(
            {"t_s": offset, "cwnd_packets": rows[-1]["cwnd_packets"], "ca_state": "recovery"}
        )
        k_s = math.cbrt((w_max - start) / constant)
        t_s, window = 0.0, start
        while window < lost_at:
            window = constant * (t_s - k_s) ** 3 + w_max
            rows.append({"t_s": offset + 0.002 + t_s, "cwnd_packets": window})
            t_s += 0.002
    return rows


def test_the_constants_of_cubics_curve_are_found() -> None:
    record = record_of("cubic", "two-losses", _cubic_rows(cubic.C))
    assert _measured("constant_c", record) == pytest.approx(0.4, rel=1e-3)
    k = MEASURES["time_to_w_max_s"](record)
    assert k.value == pytest.approx(k.stated, rel=1e-3)
    assert _measured("curve_deviation", record) < 1e-4
    assert _measured("plateau_after_smaller_window", record) == pytest.approx(0.85, abs=1e-3)


def test_a_curve_with_another_constant_is_told_from_rfc_9438s() -> None:
    record = record_of("cubic", "two-losses", _cubic_rows(2 * cubic.C))
    assert _measured("constant_c", record) == pytest.approx(0.8, rel=1e-3)
    assert _measured("curve_deviation", record) > 0.03


def test_growth_in_the_reno_friendly_region_is_split_at_the_window_before_the_loss() -> None:
    rows: list[dict[str, Any]] = [{"t_s": 0.0}, {"t_s": 0.002, "ca_state": "recovery"}]
    window, rtts = 70.0, 0
    for number in range(1000):
        rows.append({"t_s": 0.004 + number * 0.002, "cwnd_packets": window, "rtt_us": 20_000})
        if number % 10 == 9:
            window += 0.5 if window < 100 else 1
            rtts += 1
    record = record_of("cubic", "reno-friendly", rows)
    assert _measured("reno_friendly_gain", record) == pytest.approx(0.5, rel=0.02)
    assert _measured("gain_beyond_prior_window", record) == pytest.approx(1, rel=0.03)


def _bbr_rows(record: Record) -> list[dict[str, Any]]:
    """Startup, Drain, cycles of ProbeBW, and a ProbeRTT at 10 s, with gains of exact numbers."""
    bandwidth_bps = flow_metrics.goodput_bps(record.plan) * 0.99
    rows = []
    for t_s in _times(1200):
        cycle = [1.25, 0.75, *[1.0] * 6][int(t_s / 0.04) % 8]
        gain, window, flight = cycle, 72, 33
        if t_s < 0.3:
            gain, window, flight = 2.885, 95, 90
        elif t_s < 0.4:
            gain, flight = 0.3466, 60
        elif 10 <= t_s < 10.24:
            gain, window, flight = 1, 4, 4
        pacing = {"pacing_rate_bps": gain * bandwidth_bps}
        rows.append({"t_s": t_s, "cwnd_packets": window, "in_flight_packets": flight, **pacing})
    return rows


def test_bbrs_phases_are_told_by_its_pacing_rate() -> None:
    record = record_of("bbr", "alone", _bbr_rows(record_of("bbr", "alone")))
    bdp = flow_metrics.bdp_packets(record.plan.path)
    expected = {
        "startup_gain": 2.885, "drain_gain": 0.3466, "flight_after_drain": 33 / bdp,
        "most_probe_gain": 1.25, "least_probe_gain": 0.75, "window_gain": 72 / bdp,
        "probe_rtt_after_s": 10, "probe_rtt_lasts_s": 0.24, "probe_rtt_window": 4,
        "probe_rtt_window_fraction": 4 / bdp,
    }  # fmt: skip
    for name, value in expected.items():
        assert _measured(name, record) == pytest.approx(value, rel=1e-6), name
    assert MEASURES["window_gain"](record).stated == pytest.approx(2 + 6 / bdp)


def _bbr3_rows(record: Record) -> list[dict[str, Any]]:
    """Startup, Drain, and two cycles: DOWN, CRUISE with a loss, and UP, bounded by losses."""
    bandwidth_bps = flow_metrics.goodput_bps(record.plan) * 0.99
    rows = []
    for t_s in _times(800):
        into_s = (t_s - 1) % 3
        down, up = into_s < 0.2, into_s >= 2.7
        gain = 2.77 if t_s < 0.5 else 0.5 if t_s < 1 else 0.9 if down else 1.25 if up else 1.0
        lost = t_s >= 6
        window = 100 if down or up else 70 if lost else 85
        rows.append({
            "t_s": t_s, "cwnd_packets": window, "ssthresh_packets": 100, "rtt_us": 40_000,
            "pacing_rate_bps": gain * bandwidth_bps, "retransmits": int(lost),
        })  # fmt: skip
    return rows


def test_bbr3s_probes_and_bounds_are_told_by_its_pacing_rate_and_threshold() -> None:
    record = record_of("bbr3", "shallow", _bbr3_rows(record_of("bbr3", "shallow")))
    path = record.plan.path
    expected = {
        "cruise_gain": 1.0, "least_probe_wait_s": 2.7, "most_probe_wait_s": 2.7,
        "probe_wait_rounds": 2.7 / 0.04 - 1, "cruise_window_of_longterm": 0.85,
        "longterm_of_path": 100
        / (flow_metrics.bdp_packets(path) + path.buffer_bytes / path.frame_bytes),
        "window_after_loss_between_probes": 70 / 85,
    }  # fmt: skip
    for name, value in expected.items():
        assert _measured(name, record) == pytest.approx(value, rel=1e-6), name


def test_without_phases_nothing_is_said_about_them() -> None:
    record = record_of("bbr", "alone", [{"t_s": t_s, "pacing_rate_bps": 1} for t_s in _times(9)])
    for name in (
        "startup_gain", "drain_gain", "window_gain", "probe_rtt_after_s", "cruise_gain",
        "least_probe_wait_s", "most_probe_wait_s", "probe_wait_rounds", "longterm_of_path",
        "cruise_window_of_longterm", "window_after_loss_between_probes",
    ):  # fmt: skip
        assert math.isnan(_measured(name, record))


def _throughputs(scenario: str, packets_per_s: dict[str, list[int]], lost: int = 0) -> pd.DataFrame:
    """Samples of flows, one for each second, by the packets that arrive in each."""
    payload = flow_metrics.payload_bytes(record_of("bbr", scenario).plan.path, 4)
    return pd.concat(
        pd.DataFrame({
            "flow": name, "t_s": [float(second + 1) for second in range(len(packets))],
            "throughput_bps": [each * payload * 8 for each in packets],
            "retransmits": lost, "cwnd_bytes": 1, "rtt_us": 1, "interval_s": 1.0,
        })
        for name, packets in packets_per_s.items()
    )  # fmt: skip


def _shared(first: int, second: int, lost: int, backlog_bytes: int) -> Record:
    packets = {"flow1": [first] * 40, "flow2": [second] * 40}
    flows = _throughputs("beside-reno", packets, lost)
    seconds = [float(second) for second in range(1, 41)]
    queue = pd.DataFrame({"t_s": seconds, "backlog_bytes": backlog_bytes})
    samples = Samples(flows=flows, ping=pd.DataFrame(), queue=queue)
    return record_of("bbr", "beside-reno", samples=samples)


def test_shares_losses_and_queues_are_those_of_the_samples() -> None:
    record = _shared(900, 100, lost=50, backlog_bytes=50_000)
    assert _measured("share_left", record) == pytest.approx(0.2, rel=0.01)
    assert _measured("jain_fairness", record) == pytest.approx(1 / 2 / 0.82, rel=0.01)
    assert _measured("fraction_sent_again", record) == pytest.approx(100 / 1100)
    assert _measured("standing_queue", record) == pytest.approx(50_000 / record.plan.path.bdp_bytes)
    goodput = flow_metrics.goodput_bps(record.plan)
    payload = flow_metrics.payload_bytes(record.plan.path, 4)
    assert _measured("payload_utilisation", record) == pytest.approx(
        1000 * payload * 8 / goodput, rel=0.01
    )


def test_a_source_beside_a_flow_has_its_lost_datagrams_and_the_wait_of_the_queue() -> None:
    seconds = [float(second) for second in range(1, 31)]
    queue = pd.DataFrame({"t_s": seconds, "backlog_bytes": 250_000})
    samples = Samples(flows=pd.DataFrame(), ping=pd.DataFrame(), queue=queue)
    record = record_of("cubic", "beside-media", samples=samples)
    record.data["readback"] = {"datagrams": {"flow2": {"sent": 400, "expected": 400, "lost": 3}}}
    assert _measured("media_loss", record) == pytest.approx(3 / 400)
    # 20 ms of propagation, and 250 kB at 20 Mbit/s
    assert _measured("media_delay_ms", record) == pytest.approx(20 + 100)


def _alone(scenario: str, packets_per_s: list[int]) -> Record:
    flows = _throughputs(scenario, {"flow1": packets_per_s})
    samples = Samples(flows=flows, ping=pd.DataFrame(), queue=pd.DataFrame())
    return record_of("bbr", scenario, samples=samples)


def test_a_rate_that_has_come_back_is_measured_in_the_last_fifth() -> None:
    record = _alone("rate-change", [100] * 24 + [1500] * 6)
    from_s = 0.8 * record.plan.schedule.duration_s
    goodput_packets = flow_metrics.goodput_bps(record.plan, from_s) / 8 / 1448
    assert _measured("payload_utilisation_at_the_end", record) == pytest.approx(
        1500 / goodput_packets
    )


def test_a_long_flow_is_held_against_what_short_flows_leave_and_these_against_two_round_trips() -> (
    None
):
    record = _alone("short-flows", [1000] * 30)
    # Each takes 10 kB a second, and one in 20 takes ten times as long as the others
    completions_s = ([0.1] * 19 + [1.0]) * 15
    vars(record)["short_flows"] = pd.DataFrame({
        "size_bytes": 10_000, "received_bytes": 10_000, "completion_s": completions_s,
        "retransmits": 0,
    })  # fmt: skip
    left_bps = flow_metrics.goodput_bps(record.plan) - 10 * 10_000 * 8
    used = _measured("payload_utilisation_beside_short_flows", record)
    assert used == pytest.approx(1000 * 1448 * 8 / left_bps)
    completion = MEASURES["short_flow_completion"](record)
    assert completion.value == pytest.approx(0.1 / 0.04)
    assert completion.stated == pytest.approx(2 * (0.04 + 0.1 * 8 / 20) / 0.04)
    vars(record)["short_flows"]["completion_s"] = [0.1] * 270 + [math.nan] * 30
    unended = MEASURES["short_flow_completion"](record)
    assert unended.why == "fewer than 95 of 100 short flows ended"
