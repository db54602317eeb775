"""BBRv3's phases, its bounds by losses and marks, and when it probes.

Numbers are of draft-ietf-ccwg-bbr-06, with its section. The trace shows them: the pacing rate is
a gain times the bandwidth, less a margin of 1 %; ``ssthresh`` is inflight_longterm.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from farpath.metrics import flow as flow_metrics
from farpath.planning.request import RunRequest
from farpath.record.record import Record
from farpath.uses.conformance.bbr_phases import probe_waits_s

from ..conftest import RunPlan

STARTUP, DRAIN, DOWN, CRUISE, UP = 2.77, 0.5, 0.9, 1.0, 1.25
PACING_MARGIN = 0.99
#: BBR.LossThresh, BBR.Beta, BBR.Headroom (2.7).
LOSS_THRESHOLD, BETA, HEADROOM = 0.02, 0.7, 0.15
#: A rate sample is of whole packets within whole microseconds.
GAIN_ERROR = 0.015
TICK_S = 0.01


def _run(run: RunPlan, **options: str) -> tuple[Record, pd.DataFrame]:
    """A flow over 40 ms and 20 Mbit/s, and its trace with gains and the bandwidth-delay product."""
    usual = {"rtt": "40ms", "rate": "20Mbit", "buffer": "1MB", "stack": "bbr3", "trace": "10ms"}
    record = run(RunRequest(**(usual | options)).plan())
    rows = flow_metrics.first_flow_trace(record)
    assert rows is not None
    rows = rows[rows["bytes_sent"] > rows["mss_bytes"]].reset_index(drop=True)
    bps = flow_metrics.goodput_bps(record.plan)
    return record, rows.assign(gain=rows["pacing_rate_bps"] / PACING_MARGIN / bps)


def _in(rows: pd.DataFrame, gain: float) -> pd.Series[bool]:
    return (rows["gain"] / gain - 1).abs() < GAIN_ERROR


def _starts(rows: pd.DataFrame, gain: float) -> list[float]:
    """When phases of that gain begin, in s."""
    inside = _in(rows, gain)
    return list(rows["t_s"][inside & ~inside.shift(fill_value=False)])


def _used(run: RunPlan, loss: str) -> tuple[Record, float]:
    """A run with random losses, and the part of the path that it used from 5 s on."""
    record, rows = _run(run, time="15s", loss=loss)
    settled = rows[rows["t_s"] > 5]
    acked, lasted_s = (np.ptp(settled[name]) for name in ("bytes_acked", "t_s"))
    return record, float(acked * 8 / lasted_s / flow_metrics.goodput_bps(record.plan))


def _bdp(record: Record) -> float:
    return flow_metrics.bdp_packets(record.plan.path)


def test_startup_ends_three_rounds_after_the_rate_stops_growing(run_once: RunPlan) -> None:
    # 5.3.1.1, 5.3.1.2, 5.3.2. The rounds without growth lie within the queue of Startup, whose
    # RTT grows from one to two base RTTs; the pipe is full within a round before.
    record, rows = _run(run_once, time="15s")
    startup, drain = rows[_in(rows, STARTUP)], rows[_in(rows, DRAIN)]
    full_s = rows["t_s"][rows["gain"] > STARTUP / 1.25].iloc[0]
    least_s, most_s = 3 * record.plan.path.rtt_ms / 1e3, 4 * 2 * record.plan.path.rtt_ms / 1e3
    lasted_s = drain["t_s"].iloc[0] - full_s
    print(f"gain {rows['gain'].max():.3f} / {STARTUP}; {lasted_s:.2f} s / {least_s} to {most_s}")
    assert rows["gain"].max() == pytest.approx(STARTUP, rel=GAIN_ERROR)
    assert least_s < lasted_s < most_s
    # cwnd_gain of 2, in whole packets, and what ACKs aggregate: two packets, and three sends of two
    assert startup["cwnd_packets"].max() == pytest.approx(np.ceil(2 * _bdp(record)), abs=8)
    # Drain ends at one product, one tick before
    after = rows[rows["t_s"] > drain["t_s"].iloc[-1]].iloc[0]
    print(f"in flight after Drain: {after['in_flight_packets']} / {_bdp(record):.1f}")
    assert after["in_flight_packets"] == pytest.approx(_bdp(record), abs=3)


def test_probe_bw_cycles_through_its_gains(run_once: RunPlan) -> None:
    # 5.6.1: 0.9, 1.0, 1.0 and 1.25. After Drain there is no other gain, and DOWN follows UP.
    _, rows = _run(run_once, time="15s")
    later = rows[rows["t_s"] > _starts(rows, CRUISE)[1]]
    for gain in (DOWN, CRUISE, UP):
        print(f"{gain}: from {_starts(later, gain)} s")
    assert (_in(later, DOWN) | _in(later, CRUISE) | _in(later, UP)).mean() > 0.99
    ups, downs = _starts(later, UP), _starts(later, DOWN)
    lasted = [down - max(up for up in ups if up < down) for down in downs]
    print(f"UP lasts {[f'{each:.2f}' for each in lasted]} s")
    assert len(downs) >= 2
    # UP ends after three rounds without growth (5.3.3.7), at RTTs of up to 1.5 base RTTs
    assert all(3 * 0.04 - TICK_S < each < 4 * 0.06 + TICK_S for each in lasted)
    # DOWN ends when the flight is the product again
    assert later["rtt_us"][_in(later, CRUISE)].median() < 41.5e3


def test_a_probe_comes_two_to_three_seconds_after_the_last_began_to_end(run_once: RunPlan) -> None:
    # 5.3.3.8: T_bbr; then REFILL takes a round. The clock starts at DOWN, and at the end of
    # ProbeRTT (5.3.4.4) or of Drain.
    record, _ = _run(run_once, time="15s")
    waits = probe_waits_s(record)
    print(f"waits: {[f'{wait:.2f}' for wait in waits]} s / 2 to 3 s and a round trip")
    assert len(waits) >= 3
    assert all(2 < wait < 3 + 2 * 0.041 + TICK_S for wait in waits)


def test_on_a_short_path_a_probe_comes_in_as_many_rounds_as_reno_would_take(
    run_plan: RunPlan,
) -> None:
    # 5.3.3.8: T_reno, min(BDP, 62 or 63) round trips. 17 packets are 17 of 10 ms. A round lasts an
    # RTT; the first ones after UP, while its queue drains, last longer.
    record, rows = _run(run_plan, rtt="10ms", time="5s", trace="2ms")
    rounds = np.array(probe_waits_s(record)) / (rows["rtt_us"].median() / 1e6)
    print(f"rounds from DOWN to UP: {rounds[:5].round(1)} / {_bdp(record):.1f} and REFILL's")
    assert len(rounds) > 10
    assert np.median(rounds) == pytest.approx(_bdp(record) + 1, abs=3)


def test_probe_rtt_comes_each_five_seconds_with_half_the_window(run_once: RunPlan) -> None:
    # 5.3.4: after 5 s, 0.5 BDP, for 200 ms and at least a round
    record, rows = _run(run_once, time="15s")
    small = rows[rows["cwnd_packets"] < 0.6 * _bdp(record)]
    small = small[small["t_s"] > rows["t_s"].iloc[0] + 1]
    begins = small["t_s"][small["t_s"].diff().fillna(np.inf) > 1]
    windows = small["cwnd_packets"] / _bdp(record)
    print(f"at {list(begins)} s, window {windows.median():.3f} BDP / 0.5")
    assert begins.iloc[0] - rows["t_s"].iloc[0] == pytest.approx(5, abs=0.1)
    assert begins.diff().iloc[1] == pytest.approx(5 + 0.2 + 0.04, abs=0.1)
    assert windows.median() == pytest.approx(0.5, abs=1.5 / _bdp(record))
    first = small[small["t_s"] < begins.iloc[0] + 1]
    assert 0.2 < len(first) * TICK_S < 0.2 + 2 * 0.045


def test_losses_bound_the_window_at_what_path_and_buffer_hold(run_once: RunPlan) -> None:
    # 5.5.10.2: inflight_longterm is where losses exceed 2 %. A probe may raise it, by a packet,
    # then two, then four (5.3.3.5), before its own losses take it back.
    record, rows = _run(run_once, buffer="25kB", time="15s")
    path = record.plan.path
    fits = _bdp(record) + path.buffer_bytes / path.frame_bytes
    cruising = rows[_in(rows, CRUISE) & (rows["t_s"] > 1) & (rows["ssthresh_packets"] > 0)]
    longterm = cruising["ssthresh_packets"]
    windows = cruising["cwnd_packets"] / longterm
    print(f"inflight_longterm: {longterm.min()} to {longterm.max()} / {fits:.1f}")
    print(f"window while cruising: {windows.mode()[0]:.3f} / {1 - HEADROOM} of it")
    assert longterm.min() == pytest.approx(fits / (1 - LOSS_THRESHOLD), abs=2)
    assert longterm.max() == pytest.approx(fits / (1 - LOSS_THRESHOLD), abs=2)
    # 5.3.3.1 and 5.6.4.7: headroom of 15 %, in whole packets
    assert windows.mode()[0] == pytest.approx(1 - HEADROOM, abs=1 / longterm.min())


def test_after_too_many_losses_the_next_probe_is_cut_short_and_repeated(run_once: RunPlan) -> None:
    # 5.3.3.6, "precautionary": once the flight reaches inflight_longterm, then DOWN, and at once
    # REFILL and UP again, which raises it.
    record, rows = _run(run_once, buffer="25kB", time="15s")
    ups = _starts(rows[rows["t_s"] > 6], UP)
    waits = np.diff(ups)
    probing_rtt_s = rows["t_s"][rows["cwnd_packets"] < 0.6 * _bdp(record)]
    interrupted = [probing_rtt_s.between(*pair).any() for pair in pairwise(ups)]
    print(f"UP at {[f'{up:.2f}' for up in ups]} s")
    # Pairs: within four round trips, and ProbeRTT (5.3.4) if it comes between; then the usual wait
    most_s = 4 * 0.05 + np.array(interrupted) * (0.2 + 0.05)
    assert len(ups) >= 4
    assert not all(interrupted[::2])
    assert (waits < most_s)[::2].all()
    assert (waits[1::2] > 2).all()


def test_startup_ends_by_losses(run_once: RunPlan) -> None:
    # 5.3.1.3: a round in recovery, with over 2 % lost in six ranges. Sooner than by the plateau.
    _, shallow = _run(run_once, buffer="25kB", time="15s")
    _, deep = _run(run_once, time="15s")
    lost_s = shallow["t_s"][shallow["ca_state"] == "recovery"].iloc[0]
    ended_s, by_plateau_s = (rows["t_s"][_in(rows, DRAIN)].iloc[0] for rows in (shallow, deep))
    print(f"losses from {lost_s:.2f} s, Drain at {ended_s:.2f} s / {by_plateau_s:.2f} s without")
    assert lost_s + 0.04 < ended_s < lost_s + 2 * 0.052
    assert ended_s < by_plateau_s


def test_a_loss_between_probes_takes_the_window_to_seven_tenths_until_the_next(
    run_plan: RunPlan,
) -> None:
    # 5.5.10.3: max(latest, 0.7 of the window), where the latest flight is one product of the
    # window's two. A packet lost in a probe, here the second, takes nothing: 2 % may be lost.
    _, rows = _run(run_plan, time="5s", drop="packets:3000,4300")
    before, after = rows[rows["retransmits"] == 0], rows[rows["retransmits"] == 1]
    window, reduced = before["cwnd_packets"].iloc[-1], after["cwnd_packets"]
    probe_s = _starts(rows[rows["t_s"] > 1], UP)[0]
    print(f"window {window}, then {reduced.iloc[10]} / {BETA * window:.1f}; UP at {probe_s} s")
    assert (reduced[after["t_s"] < probe_s - 0.1].iloc[10:] - BETA * window).abs().max() < 1
    # REFILL takes it back (5.3.3.3)
    assert rows["cwnd_packets"][_in(rows, UP)].max() > window


def test_random_losses_take_their_fraction_each_round_at_most_until_the_next_probe(
    run_plan: RunPlan,
) -> None:
    # 5.5.10.3: a round with losses leaves the most that was delivered in it, so 1 - p of the round
    # before at least, for the 2.5 s until REFILL. Half of the rounds of 66 packets lose nothing.
    record, used = _used(run_plan, "0.01")
    rounds = 2.5 / (record.plan.path.rtt_ms / 1e3)
    least = (1 - 0.99**rounds) / (rounds * 0.01)
    print(f"part of the path used {used:.3f} / {least:.3f} at least")
    assert least < used < 0.99


def test_random_losses_above_the_threshold_take_most_of_the_rate(run_plan: RunPlan) -> None:
    # 5.5.10.2: at 5 % each probe finds its flight too high, and leaves 0.7 or what it delivered
    _, used = _used(run_plan, "0.05")
    print(f"part of the path used {used:.3f} / below {BETA}**3")
    assert used < BETA**3


def test_a_path_of_less_than_a_packet_is_paced_at_its_rate(run_plan: RunPlan) -> None:
    # 2.1: volumes are bytes. The client's first packet has 37 of them, and counted as a full one it
    # is five times the rate, which is not forgotten where a round lasts 2 s: the buffer stays full.
    _, rows = _run(
        run_plan, rtt="10ms", rate="100kbit", buffer="20packets", time="30s", trace="100ms"
    )
    later = rows[rows["t_s"] > 15]
    queued = later["in_flight_packets"].median()
    print(f"gains {later['gain'].min():.3f} to {later['gain'].max():.3f} / {DOWN} to {UP}; "
          f"{queued:.0f} packets in flight / 4 of BBR.MinPipeCwnd and a few")  # fmt: skip
    assert _in(later, UP).any()
    assert later["gain"].max() < UP * (1 + GAIN_ERROR)
    assert queued < 10
    assert rows["lost_packets"].max() == 0


def test_marks_count_as_losses(run_plan: RunPlan) -> None:
    # 3.6: CE marks MUST be treated as congestion; how is ours. CoDel marks in UP, and nothing
    # is lost.
    record, rows = _run(run_plan, time="5s", queue="codel:ecn", ecn="on")
    probing = rows[(rows["t_s"] > 1) & (rows["delivered_ce_packets"].diff() > 0)]
    bounded = rows[(rows["t_s"] > probing["t_s"].iloc[0] + 0.1) & _in(rows, CRUISE)]
    print(f"{rows['delivered_ce_packets'].max()} marks, inflight_longterm "
          f"{bounded['ssthresh_packets'].max()} / below {2 * _bdp(record):.0f}")  # fmt: skip
    assert rows["retransmits"].max() == 0
    assert 0 < bounded["ssthresh_packets"].max() < 2 * _bdp(record)
    assert bounded["cwnd_packets"].max() <= np.ceil(
        (1 - HEADROOM) * bounded["ssthresh_packets"].max()
    )
