"""FAST keeps alpha packets queued for each flow, and what that does to late starters."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from farpath.planning.request import RunRequest
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from tests.support.paths import SHORT

from ..conftest import RunPlan, single_flow
from .mixed import Visit, plan_of, rows_of
from .responses import PAYLOAD_BYTES

ALPHA = 200
DURATION_S = 6.0
#: By then every flow here has been in equilibrium for more than a second.
SETTLED_S = 4.0


def _path(**changes: Any) -> Path:
    usual = dataclasses.replace(
        SHORT, rtt_ms=20, rate_bps=500_000_000, buffer_bytes=5_000_000, loss=0.0
    )
    return dataclasses.replace(usual, **changes)


def _packets_per_s(path: Path) -> float:
    return path.rate_bps / 8 / path.frame_bytes


def _sampled(path: Path, visits: list[Visit]) -> Plan:
    return plan_of(path, visits, sample_interval_s=0.1, ping_interval_s=0.1)


@pytest.mark.parametrize(("flows", "period_rtts"), [(1, 1), (4, 1), (4, 2)])
def test_n_flows_queue_n_alpha_packets_and_keep_the_rtt_still(
    run_plan: RunPlan, flows: int, period_rtts: int
) -> None:
    # draft-jin-wei-low-tcp-fast-01, 5.4: each flow maintains alpha packets in the
    # path's queue and gets 1/n of its rate. Tolerances: 2 %, since a window is whole
    # packets and baseRTT of flows that start together may hold a few packets of the
    # others; RTT: two frames at the bottleneck, by which ACKs of two packets move it.
    path = _path()
    visits = [Visit(f"fast_constant:period_rtts={period_rtts}", 0.0, DURATION_S)] * flows
    record = run_plan(_sampled(path, visits))
    queue = record.samples.queue
    queued = queue[queue["t_s"] > SETTLED_S]["backlog_packets"]
    pings = record.samples.ping[record.samples.ping["t_s"] > SETTLED_S]["rtt_ms"]
    rates = [
        rows_of(record, f"flow{k}", SETTLED_S, DURATION_S)["throughput_bps"].mean()
        for k in range(1, flows + 1)
    ]
    print(
        f"queue {queued.mean():.1f} packets / {flows * ALPHA}; SD(RTT) {pings.std():.4f} ms; "
        f"least / largest share {min(rates) / max(rates):.3f}; drops {queue['drops'].max()}"
    )
    assert queued.mean() == pytest.approx(flows * ALPHA, rel=0.02)
    assert pings.std() < 2e3 / _packets_per_s(path)
    assert min(rates) / max(rates) > 0.95
    assert queue["drops"].max() == 0


@pytest.mark.parametrize(
    ("rate_bps", "published"), [(100_000_000, 20), (1_000_000_000, 200), (2_500_000_000, 500)]
)
def test_alpha_by_rate_is_that_of_the_drafts_table(
    run_plan: RunPlan, rate_bps: int, published: int
) -> None:
    # Section 5.4, table: 20 packets up to 0.1 Gb/s, 200 at 1, 500 at 2.5. The module
    # takes cwnd / RTT in payload, 1448 of a frame's 1514 bytes. One packet of alpha is in
    # transmission, and does not wait.
    path = _path(rate_bps=rate_bps, buffer_bytes=20_000_000, rtt_ms=10)
    record = run_plan(single_flow("fast_constant:alpha=0", 3.0, path, sample_interval_s=0.1))
    queue = record.samples.queue
    queued = 1 + queue[queue["t_s"] > 2.0]["backlog_packets"].mean()
    expected = max(20.0, published * PAYLOAD_BYTES / path.frame_bytes)
    print(f"alpha at {rate_bps / 1e9:g} Gb/s: {queued:.1f} / {expected:.1f}, published {published}")
    # A window, and so alpha, is whole packets.
    assert queued == pytest.approx(expected, abs=1 + 0.01 * expected)


@pytest.mark.parametrize(
    ("rate_bps", "published"), [(80_000_000, 20), (500_000_000, 200), (2_000_000_000, 500)]
)
def test_alpha_in_steps_is_the_drafts_row_up_to_its_rate(
    run_plan: RunPlan, rate_bps: int, published: int
) -> None:
    path = _path(rate_bps=rate_bps, buffer_bytes=20_000_000, rtt_ms=10)
    record = run_plan(single_flow("fast_constant:alpha=-1", 3.0, path, sample_interval_s=0.1))
    queue = record.samples.queue
    queued = 1 + queue[queue["t_s"] > 2.0]["backlog_packets"].mean()
    print(f"alpha at {rate_bps / 1e9:g} Gb/s: {queued:.1f} / {published}")
    assert queued == pytest.approx(published, abs=1 + 0.01 * published)


def test_a_second_flow_below_a_tenth_of_a_gigabit_stays_there(run_plan: RunPlan) -> None:
    # Its alpha is 20 there, the first one's 200. It takes the first one's queue of 200
    # packets for the path, so that q packets are queued where 200/q + 20/(q - 200) = 1:
    # q is 274, and its share 0.27 of 300 Mbit/s is 81 Mbit/s. So the row stays.
    path = _path(rate_bps=300_000_000)
    record = run_plan(_sampled(path, [Visit("fast", 0.0, 40.0), Visit("fast", 4.0, 40.0)]))
    first, second = (
        rows_of(record, flow, 30.0, 39.0)["throughput_bps"].mean() for flow in ("flow1", "flow2")
    )
    share = second / (first + second)
    print(f"share of the second flow {share:.3f} / 0.27, {second / 1e6:.0f} Mbit/s")
    assert share == pytest.approx(0.27, abs=0.03)


def _queue_s(bases_s: list[float], alpha_s: float) -> float:
    """The queueing delay at which flows that take these parts of it for baseRTT fill the path.

    A flow of baseRTT b + B has alpha packets per (q - b) seconds; alpha_s is alpha packets
    at the path's rate. Found by bisection.
    """
    low, high = max(bases_s), max(bases_s) + alpha_s * len(bases_s)
    for _ in range(60):
        middle = (low + high) / 2
        fills = sum(alpha_s / (middle - base) for base in bases_s) > 1
        low, high = (middle, high) if fills else (low, middle)
    return low


def test_late_starters_take_the_queue_for_the_path_and_more_than_their_share(
    run_plan: RunPlan,
) -> None:
    # Section 5.3: the least RTT that a new flow sees includes the queue of those before
    # it. Predicted from that alone; 5 %, as a starter's first packets disturb the queue.
    path = _path()
    starts = [0.0, 2.0, 4.0, 6.0]
    record = run_plan(_sampled(path, [Visit("fast_constant", start, 9.0) for start in starts]))
    alpha_s = ALPHA / _packets_per_s(path)
    bases_s: list[float] = []
    queue_s = 0.0
    for _ in starts:
        bases_s.append(queue_s)
        queue_s = _queue_s(bases_s, alpha_s)
    predicted = [alpha_s / (queue_s - base) for base in bases_s]
    rates = [
        rows_of(record, f"flow{k}", 8.0, 9.0)["throughput_bps"].mean()
        for k in range(1, len(starts) + 1)
    ]
    measured = [rate / sum(rates) for rate in rates]
    for number, (share, expected) in enumerate(zip(measured, predicted, strict=True), 1):
        print(f"flow {number}: share {share:.3f} / {expected:.3f}")
    queue = record.samples.queue
    queued = queue[queue["t_s"] > 8.0]["backlog_packets"].mean()
    print(f"queue {queued:.0f} / {queue_s * _packets_per_s(path):.0f}, {len(starts) * ALPHA} fair")
    assert measured == pytest.approx(predicted, rel=0.05)
    assert queued == pytest.approx(queue_s * _packets_per_s(path), rel=0.05)


def test_late_starters_that_know_the_path_get_their_share(run_plan: RunPlan) -> None:
    path = _path()
    # The idle RTT of a full packet: the path's, and one frame at the bottleneck
    base_rtt_us = round(path.rtt_ms * 1000 + 1e6 / _packets_per_s(path))
    stack = f"fast_constant:base_rtt_us={base_rtt_us}"
    record = run_plan(_sampled(path, [Visit(stack, start, 8.0) for start in (0.0, 1.0, 2.0, 3.0)]))
    queue = record.samples.queue
    queued = queue[queue["t_s"] > 5.0]["backlog_packets"].mean()
    # Over 3 s, as the receiver reads blocks of 128 KiB, 1 Mbit
    rates = [rows_of(record, f"flow{k}", 5.0, 8.0)["throughput_bps"].mean() for k in range(1, 5)]
    print(f"queue {queued:.1f} / {4 * ALPHA}; least / largest share {min(rates) / max(rates):.3f}")
    assert queued == pytest.approx(4 * ALPHA, rel=0.02)
    assert min(rates) / max(rates) > 0.95


def test_without_a_queue_the_window_grows_by_a_third_of_alpha_per_rtt(run_plan: RunPlan) -> None:
    # Section 4.1 without queue: w_new = (w_old + alpha + w) / 2, w_old one RTT ago, so a
    # step is (alpha - step before) / 2, which tends to alpha / 3. 3 %:
    # packets leave in bunches, whose own queue takes a little off alpha.
    path = _path(rtt_ms=100, rate_bps=10_000_000_000)
    plan = single_flow("fast_constant:mi_threshold_us=0", 5.0, path, sample_interval_s=0.1)
    rows = rows_of(run_plan(plan), "flow1", 1.0, 5.0)
    steps = (rows["cwnd"].iloc[-1] - rows["cwnd"].iloc[0]) / (len(rows) - 1)
    print(f"packets per RTT: {steps:.1f} / {ALPHA / 3:.1f}")
    assert steps == pytest.approx(ALPHA / 3, rel=0.03)


def test_once_a_flow_has_started_a_halved_window_grows_by_the_equation_alone(
    run_plan: RunPlan,
) -> None:
    # As above: by alpha / 3 an RTT, which is a sample. 10 %: a window is whole packets, and its
    # first steps after recovery tend to that.
    plan = RunRequest(
        rtt="100ms", rate="200Mbit", buffer="5MB", stack="fast_constant:mi_once=1",
        schedule="together", region="15s", drop="at:8s", era="modern",
    ).plan()  # fmt: skip
    settings = dataclasses.replace(plan.settings, sample_interval_s=0.1)
    rows = rows_of(run_plan(dataclasses.replace(plan, settings=settings)), "flow1", 6.0, 15.0)
    lost = int(rows["retransmits"].to_numpy().argmax())
    grown = rows["cwnd"][lost + 9] - rows["cwnd"][lost + 4]
    before = rows["cwnd"][lost - 1]
    print(f"of {before:.0f} packets: {grown / 5:.1f} an RTT / {ALPHA / 3:.1f}")
    assert rows["cwnd"][lost + 9] < 0.9 * before
    assert grown / 5 == pytest.approx(ALPHA / 3, rel=0.1)


def test_a_lost_packet_halves_the_window_and_an_empty_queue_restores_it(run_plan: RunPlan) -> None:
    # Section 4.2: half. Then the queue is empty, and each ACK adds a packet: with an ACK
    # per two packets half as much again per RTT, so the window is back after ln 2 / ln 1.5
    # = 1.7 RTTs of growth, or twice that as half of each RTT passes without ACKs. A sample
    # is an RTT: the least one holds up to an RTT of that growth, less than 1.25 times.
    path = _path(rtt_ms=100, rate_bps=200_000_000, loss=2e-5)
    plan = single_flow("fast_constant", 30.0, path, sample_interval_s=0.1)
    rows = rows_of(run_plan(plan), "flow1", 3.0, 30.0)
    least, back = [], []
    for k in rows.index[6:-10]:
        before = rows["cwnd"][k - 6 : k - 1]
        alone = rows["retransmits"][k - 6 : k + 9].sum() == rows["retransmits"][k] == 1
        if alone and before.max() - before.min() < 0.01 * before.max():
            least.append(rows["cwnd"][k : k + 4].min() / before.max())
            back.append(rows["cwnd"][k + 2 : k + 9].max() / before.max())
    print("least window after each loss / before:", [f"{value:.3f}" for value in least])
    print("largest within 8 RTTs / before:", [f"{value:.3f}" for value in back])
    assert least
    assert all(0.49 < value < 0.625 for value in least)
    assert all(value > 0.9 for value in back)
