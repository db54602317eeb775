"""What each queue of Linux does behind the exact rate: delay, isolation, marks, fair shares."""

from __future__ import annotations

import dataclasses
import gzip

import pandas as pd
import pytest

from benchmarks.lab.figure import rate_error_percent
from farpath.planning.request import RunRequest
from farpath.record.record import Record
from farpath.spec.aqm import KINDS
from farpath.spec.plan import Plan
from farpath.spec.schedule import simultaneous
from farpath.tools import tc

from ..conftest import RunPlan
from .responses import PAYLOAD_BYTES

#: By then slow start and the queues' first reaction to it are over.
SETTLED_S = 2.5
#: A red that has to act at the rate and the buffer of these runs.
WITH_PARAMETERS = {"red": "red:min=30kB,max=90kB,probability=0.1"}


def _texts() -> list[str]:
    return [WITH_PARAMETERS.get(kind, kind) for kind in KINDS]


def _waits_ms(record: Record) -> pd.Series[float]:
    """How long a packet would wait in the queue, at each sample since the run has settled."""
    queue = record.samples.queue
    waits_ms = queue["backlog_bytes"] * 8e3 / record.plan.path.rate_bps
    return waits_ms.set_axis(queue["t_s"])[queue["t_s"].to_numpy() > SETTLED_S]


def _full(queue: str, **more: str) -> RunRequest:
    """Eight flows whose queue is never empty for long."""
    usual = {
        "rtt": "40ms",
        "rate": "20Mbit",
        "buffer": "400ms",
        "time": "8s",
        "sample": "50ms",
        "stack": "cubic",
        "parallel": "8",
        "queue": queue,
    }
    return RunRequest(**(usual | more))


def _short(plan: Plan, duration_s: float) -> Plan:
    """The same with flows that are shorter than an option can say."""
    stacks = [flow.stack for flow in plan.schedule.flows]
    return dataclasses.replace(plan, schedule=simultaneous(stacks, duration_s))


@pytest.mark.parametrize("queue", _texts())
def test_the_rate_is_exact_behind_each_queue(run_plan: RunPlan, queue: str) -> None:
    # Datagrams above the rate, which heed neither drops nor marks, keep a queue full. Tolerance:
    # a frame of those that are sent within two seconds.
    request = RunRequest(
        rtt="20ms", rate="100Mbit", stack="udp:rate=99000000", queue=queue, time="5s",
        buffer="200packets", sample="100ms",
    )  # fmt: skip
    record = run_plan(_short(request.plan(), 2.0))
    raw = gzip.decompress((record.directory / "raw" / "queue.txt.gz").read_bytes()).decode()
    error_percent = rate_error_percent(tc.parse_samples(raw), record.plan.path.rate_bps)
    print(f"{queue}: rate error {error_percent:.5f} %")
    assert error_percent is not None
    assert error_percent < 0.01


@pytest.mark.parametrize("queue", ["pie", "dualpi2"])
def test_pie_and_dualpi2_keep_the_mean_delay_at_their_target(run_plan: RunPlan, queue: str) -> None:
    # RFC 8033, 4.2, and RFC 9332, appendix A: the probability of a drop follows the integral of
    # the delay's difference from the target, 15 ms for both, so the mean of the delay has it.
    # Tolerance: a fourth, since the sawtooth of eight flows is as high as the queue.
    record = run_plan(_full(queue).plan())
    mean_ms = float(_waits_ms(record).mean())
    print(f"{queue}: mean delay {mean_ms:.2f} ms / 15 ms, {mean_ms / 15 - 1:+.1%}")
    assert mean_ms == pytest.approx(15, rel=0.25)


def test_the_least_delay_in_an_interval_of_codel_returns_to_its_target(run_plan: RunPlan) -> None:
    # RFC 8289, 3.2: CoDel drops while the least delay of an interval, 100 ms, exceeds the target
    # of 5 ms. Tolerance: two packets, which take 0.6 ms each at this rate.
    record = run_plan(_full("codel", parallel="4", sample="10ms").plan())
    waits_ms = _waits_ms(record)
    least_ms = waits_ms.groupby((waits_ms.index.to_numpy() / 0.1).astype(int)).min()
    middle_ms = float(least_ms.median())
    print(f"codel: least delay of an interval {middle_ms:.2f} ms / 5 ms, its median")
    assert middle_ms == pytest.approx(5, abs=2 * 0.606)


def test_fq_codel_gives_a_sparse_flow_the_idle_path(run_plan: RunPlan) -> None:
    # RFC 8290, 4.1: a flow with less than a quantum in its queue goes first, so that a ping waits
    # for the packet that is sent, 0.24 ms here. Through one common queue it waits as long as all
    # others.
    rtts_ms = {}
    for queue in ("fq_codel", "droptail"):
        request = RunRequest(
            rtt="20ms", rate="50Mbit", stack="cubic", queue=queue, time="5s", buffer="50ms"
        )
        pings = run_plan(request.plan()).samples.ping
        rtts_ms[queue] = float(pings[pings["t_s"] >= 1]["rtt_ms"].max())
    print(f"largest ping RTT: {rtts_ms['fq_codel']:.3f} ms, drop-tail {rtts_ms['droptail']:.1f} ms")
    assert rtts_ms["fq_codel"] < 20 + 2 * 0.242
    assert rtts_ms["droptail"] > 20 + 25


def test_dctcp_oscillates_between_the_threshold_and_its_analytic_amplitude(
    run_plan: RunPlan,
) -> None:
    # Alizadeh et al., SIGCOMM 2010, 3.3, for N flows and a marking threshold of K packets: the
    # largest queue is K + N, and it falls by sqrt(2 N (C RTT + K)) / 2 = 7. Tolerance: 2 packets,
    # since ACKs come for two packets at once.
    request = RunRequest(
        rtt="10ms", rate="100Mbit", stack="dctcp", queue="codel:ce_threshold=2ms,target=1s",
        buffer="50ms", sample="10ms", time="5s", ecn="on",
    )  # fmt: skip
    record = run_plan(request.plan())
    path, queue = record.plan.path, record.samples.queue
    # With the packet in transmission, which has left the queue and not the path
    packets = 1 + queue[queue["t_s"] > SETTLED_S]["backlog_packets"]
    threshold = 2e-3 * path.rate_bps / 8 / path.frame_bytes
    amplitude = (2 * (path.bdp_bytes / path.frame_bytes + threshold)) ** 0.5 / 2
    most, least = packets.max(), packets.min()
    print(
        f"queue {least} to {most} packets, analytic {threshold + 1 - amplitude:.1f} to "
        f"{threshold + 1:.1f}; {queue['marks'].iloc[-1]} marks, {queue['drops'].iloc[-1]} drops"
    )
    assert most == pytest.approx(threshold + 1, abs=2)
    assert least == pytest.approx(threshold + 1 - amplitude, abs=2)
    assert queue["drops"].iloc[-1] == 0
    # The receiver of the flow has met the marks of the queue, but for those of the last second
    assert 0 < record.readback["ecn"]["flow1"]["marked"] <= queue["marks"].iloc[-1]


def test_classic_and_scalable_flows_share_a_dualpi2_by_equal_windows(run_plan: RunPlan) -> None:
    # RFC 9332, 2.1: the classic probability is the square of the scalable one over k = 2, for
    # which windows of Reno and DCTCP are equal. DCTCP gets the more of the rate, as its queue is
    # the shorter. Tolerance: a third; the RFC expects no more than the same order.
    request = RunRequest(
        stack="+".join(["dctcp+reno"] * 4), senders="rtt=40ms", ecn="passive", buffer="200ms",
        rtt="40ms", rate="40Mbit", queue="dualpi2:any_ect,step_thresh=5ms", time="15s",
    )  # fmt: skip
    record = run_plan(request.plan())
    rows, queue = record.samples.flows, record.samples.queue
    stacks = {flow.name: flow.stack for flow in record.plan.schedule.flows}
    settled = rows[rows["t_s"] > 5].assign(stack=rows["flow"].map(stacks))
    means = settled.groupby("stack")[["throughput_bps", "rtt_us"]].mean()
    windows = means["throughput_bps"] * means["rtt_us"] / 8e6 / PAYLOAD_BYTES
    since = queue[queue["t_s"] >= 5]
    marks, drops = (since[name].iloc[-1] - since[name].iloc[0] for name in ("marks", "drops"))
    packets = settled.groupby("stack")["throughput_bps"].sum() / 8 / PAYLOAD_BYTES
    coupling = marks / packets["dctcp"] / (drops / packets["reno"]) ** 0.5
    print(
        f"windows: dctcp {windows['dctcp']:.1f}, reno {windows['reno']:.1f} packets, ratio "
        f"{windows['dctcp'] / windows['reno']:.2f} / 1; coupling {coupling:.2f} / 2"
    )
    assert windows["dctcp"] / windows["reno"] == pytest.approx(1, rel=1 / 3)
    # Of a probability that varies, the root of the mean square is the larger
    assert 1 < coupling <= 2.1
    modes = {name: flow["mode"] for name, flow in record.readback["ecn"].items()}
    assert {modes[name] for name, stack in stacks.items() if stack == "dctcp"} == {"rfc3168"}
    assert {modes[name] for name, stack in stacks.items() if stack == "reno"} == {"none"}


@pytest.mark.parametrize("queue", ["red:min=30kB,max=90kB,ecn", "fq_pie", "cake"])
def test_runs_of_one_seed_are_the_same_though_queues_are_random(
    run_plan: RunPlan, queue: str
) -> None:
    # RED and PIE draw random numbers; fq_pie and cake hash flows by random keys. The suite of
    # farpath regress has fq_codel and dualpi2
    plan = _short(_full(queue, ecn="on").plan(), 3.0)
    record = run_plan(plan)
    taken = record.samples.queue[["marks", "drops"]].iloc[-1].sum()
    print(f"{queue}: {taken} packets marked or dropped")
    assert taken > 0
    assert run_plan(plan).fingerprint == record.fingerprint


@pytest.mark.parametrize(("ecn", "mode"), [("off", "none"), ("accecn", "accecn")])
def test_connections_have_the_ecn_that_was_asked_for(
    run_plan: RunPlan, ecn: str, mode: str
) -> None:
    record = run_plan(_short(_full("fq_codel", ecn=ecn).plan(), 3.0))
    assert {flow["mode"] for flow in record.readback["ecn"].values()} == {mode}
    marked = sum(flow["marked"] for flow in record.readback["ecn"].values())
    queue = record.samples.queue
    print(f"{ecn}: {marked} marked, {queue['marks'].iloc[-1]} marks, {queue['drops'].iloc[-1]}")
    assert (marked > 0) == (mode != "none")
    assert (queue["marks"].iloc[-1] > 0) == (mode != "none")
