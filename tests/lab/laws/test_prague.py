"""TCP Prague and L4S: the codepoint, alpha, the coupled queues, and flows of unequal RTTs.

Numbers are of draft-briscoe-iccrg-prague-congestion-control-00, with its section, where no other
source is named. ``farpath conformance prague`` has what happens in queues of RFC 3168.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from farpath.mechanisms.capture.capture_files import captured_files
from farpath.metrics import flow as flow_metrics
from farpath.planning.request import RunRequest
from farpath.record.record import Record
from tests.support.captures import tcp_packets, tcpdump

from ..conftest import RunPlan

#: By then slow start is over, and alpha is that of the path.
SETTLED_S = 3.0
#: Where DualPI2 begins to mark (step_thresh, net/sched/sch_dualpi2.c).
STEP_MS = 1.0
GAIN = 1 / 16
#: Data of a flow, as tcpdump selects packets by their codepoint: 1 is ECT(1), 2 ECT(0), 3 CE.
DATA = "ip[1] & 3 == {codepoint} and tcp dst port {port} and greater 1000"


def _run(run: RunPlan, **options: str) -> Record:
    usual = {
        "rtt": "20ms", "rate": "40Mbit", "buffer": "1MB", "queue": "dualpi2", "ecn": "l4s",
        "stack": "prague", "trace": "10ms",
    }  # fmt: skip
    return run(RunRequest(**(usual | options)).plan())


def _alone(run: RunPlan) -> Record:
    return _run(run, time="7s", capture="bottleneck:96", sample="10ms")


def _beside_cubic(run: RunPlan) -> Record:
    """Four of CUBIC over 20 ms and DualPI2's queue of 15 ms, four of Prague over 35 ms."""
    return _run(
        run, time="12s", stack="+".join(["cubic+prague"] * 4), senders="rtt=35ms",
        capture="sender2:96,receiver:96",
    )  # fmt: skip


def _trace(record: Record) -> pd.DataFrame:
    rows = flow_metrics.first_flow_trace(record)
    assert rows is not None
    return rows[rows["bytes_sent"] > rows["mss_bytes"]].reset_index(drop=True)


def _means_bps(record: Record) -> list[float]:
    """The flows' throughputs once they have settled."""
    return [
        flow_metrics.mean_bps(record, flow.name, SETTLED_S) for flow in record.plan.schedule.flows
    ]


def test_data_carry_ect_1_or_ce_and_the_receiver_has_read_the_same(run_once: RunPlan) -> None:
    # 2.2. iperf3 opens the connection and names its stack afterwards: its first 37 bytes are the
    # kernel's, and no full packet.
    record = _alone(run_once)
    (flow,) = record.plan.schedule.flows
    file = captured_files(record)["bottleneck"]
    counts = [
        len(tcpdump(file, DATA.format(codepoint=number, port=flow.port)).splitlines())
        for number in range(4)
    ]
    read = record.readback["ecn"][flow.name]
    print(f"data with Not-ECT, ECT(1), ECT(0), CE: {counts}; the receiver: {read}")
    assert counts[0] == counts[2] == 0
    assert counts[1] > 10_000
    # The receiver is last asked within a second of the end
    assert 0.8 < read["marked"] / counts[3] <= 1
    assert 0.8 < read["ect_1_bytes"] / (counts[1] * _trace(record)["mss_bytes"].iloc[-1]) <= 1


def test_a_mark_takes_off_half_of_alpha_and_alpha_follows_the_marks(run_once: RunPlan) -> None:
    # 2.3.2 and 2.4.2, from the trace's counts of delivered and marked packets at each RTT.
    # Tolerance: windows of 65 whole packets, at ticks of half an RTT.
    rows = _trace(_alone(run_once))
    rounds = rows.iloc[::2]
    delivered, marked = rounds["delivered_packets"].diff(), rounds["delivered_ce_packets"].diff()
    parts = (marked / delivered).fillna(0)
    alphas = parts.ewm(alpha=GAIN, adjust=False).mean()
    settled = rows["t_s"] > SETTLED_S
    windows = rows["cwnd_packets"]
    kept = (windows / windows.shift())[settled & (windows.diff() < 0)]
    expected = 1 - alphas.reindex(kept.index, method="ffill") / 2
    print(f"{len(kept)} marks: kept {kept.mean():.4f} / {expected.mean():.4f}")
    assert len(kept) > 30
    assert kept.mean() == pytest.approx(expected.mean(), abs=0.01)


def test_a_step_of_1_ms_holds_the_queue_there_and_the_link_is_used(run_once: RunPlan) -> None:
    record = _alone(run_once)
    queue = record.samples.queue
    queue = queue[queue["t_s"] > SETTLED_S]
    waits_ms = queue["backlog_bytes"] * 8e3 / record.plan.path.rate_bps
    used = _means_bps(record)[0] / flow_metrics.goodput_bps(record.plan)
    percentile = float(np.percentile(waits_ms, 99))
    print(f"queue: {waits_ms.mean():.2f} ms, 99th percentile {percentile:.2f}; used {used:.3f}")
    assert percentile < 2 * STEP_MS
    assert used > 0.95
    assert queue["drops"].iloc[-1] == 0


def test_prague_and_cubic_have_equal_rates_at_equal_rtts_of_a_dualpi2(run_once: RunPlan) -> None:
    # RFC 9332, 2.1, k = 2, as for DCTCP and Reno in test_queues.py, with the same tolerance
    record = _beside_cubic(run_once)
    stacks = {flow.name: flow.stack for flow in record.plan.schedule.flows}
    rows = record.samples.flows
    rows = rows[rows["t_s"] > SETTLED_S].assign(stack=rows["flow"].map(stacks))
    means = rows.groupby("stack")[["throughput_bps", "rtt_us"]].mean()
    rates, rtts = (float(means[name]["prague"] / means[name]["cubic"]) for name in means)
    print(f"Prague to CUBIC: rates {rates:.2f} / 1, RTTs {rtts:.2f} / 1")
    assert rtts == pytest.approx(1, abs=0.15)
    assert rates == pytest.approx(1, rel=1 / 3)
    found = {
        stacks[name]: (flow["mode"], flow["ect_1_bytes"] > 0)
        for name, flow in record.readback["ecn"].items()
    }
    assert found == {"cubic": ("none", False), "prague": ("accecn", True)}


def test_pragues_packets_wait_less_than_2_ms_beside_cubic(run_once: RunPlan) -> None:
    # The 99th percentile of a flow's packets, by their times at sender and receiver: half the RTT,
    # the time in which the link sends a packet, and the rest
    record = _beside_cubic(run_once)
    path, prague = record.plan.path, record.plan.schedule.flows[1]
    sent, arrived = (
        {
            packet.numbers: packet.time_ns
            for packet in tcp_packets(captured_files(record)[place], f"tcp dst port {prague.port}")
            if packet.payload_bytes > 1000
        }
        for place in (prague.sender, prague.receiver)
    )
    delays_ms = np.array([(arrived[one] - sent[one]) / 1e6 for one in sent if one in arrived])
    waits_ms = delays_ms - 35 / 2 - path.frame_bytes * 8e3 / path.rate_bps
    settled = waits_ms[len(waits_ms) // 4 :]
    mean, percentile = settled.mean(), float(np.percentile(settled, 99))
    print(f"{len(settled)} packets waited {mean:.2f} ms, 99th percentile {percentile:.2f} / 2 ms")
    assert len(settled) > 2_000
    assert percentile < 2


def test_a_reference_rtt_takes_the_advantage_from_a_short_rtt(run_once: RunPlan) -> None:
    # 2.4.4: from the start on, to be short, flows over 5 and 20 ms grow as if both had 25 ms. The
    # window is of whole packets, eight here, which costs the shorter one some of its half.
    ratios = {}
    for name, parameter in (("with", "rtt_ref_rounds=0"), ("without", "rtt_ref_ms=0")):
        stack = f"prague:{parameter}"
        first, second = _means_bps(
            _run(run_once, time="10s", rtt="5ms", senders="rtt=20ms", stack=f"{stack}+{stack}")
        )
        ratios[name] = first / second
    print(f"rate over 5 ms to that over 20 ms: {ratios['with']:.2f} / 1, {ratios['without']:.2f}")
    assert 0.5 < ratios["with"] < 2
    assert ratios["without"] > 4
