"""The lab's paths are what they say: RTT, rate, buffer, drop-tail, window, loss."""

from __future__ import annotations

import dataclasses
import gzip
import json

import pytest

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.planning.path_files import path_by_name
from farpath.planning.path_options import resolve_path
from farpath.planning.planner import make_plan
from farpath.planning.request import RunRequest
from farpath.record.idle_path import ping_rtt_ms
from farpath.record.record import Record
from farpath.spec.plan import Plan
from farpath.spec.schedule import seven_regions
from farpath.tools import tc
from tests.support.paths import SHORT

from .conftest import RunPlan, single_flow

#: Two full windows of 16 MiB fill any named path and its buffer.
FILLING_FLOWS = 2


def filled(run_plan: RunPlan, duration_s: float = 12.0) -> Record:
    """A run whose buffer overflows, sampled ten times a second."""
    plan = single_flow(
        "cubic",
        duration_s,
        flows=FILLING_FLOWS,
        sample_interval_s=0.1,
        ping_interval_s=0.1,
    )
    return run_plan(plan)


@pytest.fixture(scope="module")
def filled_record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """One such run for all tests of this module."""
    from farpath.lab.run import run
    from farpath.record.record import load_record

    def make(plan: Plan) -> Record:
        out = tmp_path_factory.mktemp("filled")
        return load_record(run(plan, out, force=True, watch=lambda _event: None).directory)

    return filled(make)


def test_a_flow_ends_well_where_round_trips_take_longer_than_iperf3_waits_for_a_message(
    run_plan: RunPlan,
) -> None:
    words = {"rtt": "8s", "rate": "200kbit", "buffer": "8s", "time": "60s"}
    flows = run_plan(RunRequest(stack="cubic", **words).plan()).samples.flows
    longest_s = flows["rtt_us"].max() / 1e6
    print(f"round trips of up to {longest_s:.1f} s")
    assert longest_s > 10  # nread_read_timeout in iperf3's src/net.c
    assert (flows["throughput_bps"] > 0).any()


def test_a_receiver_waits_for_its_first_block_longer_than_iperf3s_two_minutes(
    run_plan: RunPlan,
) -> None:
    words = {"rtt": "10s", "rate": "1Mbit", "time": "200s"}
    flows = run_plan(RunRequest(stack="bbr", **words).plan()).samples.flows
    first_s = flows["t_s"][flows["throughput_bps"] > 0].iloc[0]
    print(f"the first block was read after {first_s:.0f} s")
    assert first_s > 120  # DEFAULT_NO_MSG_RCVD_TIMEOUT in iperf3's src/iperf.h


@pytest.mark.parametrize("name", ["caltech", "ufl", "cern"])
def test_the_idle_path_has_the_base_rtt_to_a_microsecond(run_plan: RunPlan, name: str) -> None:
    path = dataclasses.replace(path_by_name(name), loss=0.0, background=None)
    record = run_plan(single_flow("reno", 2.0, path))
    error_us = round((record.data["readback"]["idle_rtt_ms"] - ping_rtt_ms(record.plan)) * 1e3, 3)
    print(f"{name}: base RTT error {error_us:+.3f} us")
    assert abs(error_us) <= 1.0


def busy_rate_bps(record: Record) -> float:
    """What the bottleneck sent, over the spans in which it cannot have been idle."""
    raw = gzip.decompress((record.directory / "raw" / "queue.txt.gz").read_bytes())
    samples = tc.parse_samples(raw.decode())
    # A tenth of a second cannot empty a queue that lasts longer than that.
    lasting = [s.backlog_bytes * 8 / record.plan.path.rate_bps > 0.11 for s in samples]
    spans = [
        (b.t_s - a.t_s, b.bytes - a.bytes)
        for a, b, busy in zip(samples, samples[1:], lasting, strict=False)
        if busy
    ]
    assert len(spans) > 10
    return 8 * sum(sent for _, sent in spans) / sum(length for length, _ in spans)


def test_a_busy_bottleneck_sends_at_its_rate_to_a_thousandth(filled_record: Record) -> None:
    wanted_bps = filled_record.plan.path.rate_bps
    rate_bps = busy_rate_bps(filled_record)
    print(f"rate {rate_bps:.0f} bit/s, error {rate_bps / wanted_bps - 1:+.4%}")
    assert rate_bps == pytest.approx(wanted_bps, rel=1e-3)


@pytest.mark.nightly
@pytest.mark.parametrize("wanted_bps", [10_000_000, 2_000_000_000])
def test_slow_and_fast_bottlenecks_keep_their_rates_too(run_plan: RunPlan, wanted_bps: int) -> None:
    path = resolve_path(rtt="10ms", rate=f"{wanted_bps}bit", buffer=f"{wanted_bps // 8}")
    record = run_plan(single_flow("reno", 3.0, path, flows=2, sample_interval_s=0.1))
    rate_bps = busy_rate_bps(record)
    print(f"rate {rate_bps:.0f} bit/s, error {rate_bps / wanted_bps - 1:+.4%}")
    assert rate_bps == pytest.approx(wanted_bps, rel=1e-3)


@pytest.mark.nightly
def test_the_queue_can_be_sampled_each_ten_milliseconds(run_plan: RunPlan) -> None:
    path = resolve_path(rtt="20ms", rate="20Mbit", buffer="50kB")
    record = run_plan(single_flow("reno", 2.0, path, sample_interval_s=0.01))
    queue, flows = record.samples.queue, record.samples.flows
    assert queue["t_s"].tolist() == [round(0.01 * tick, 6) for tick in range(201)]
    assert flows["interval_s"].iloc[1:-1].to_numpy() == pytest.approx(0.1, abs=1e-3)
    assert queue["backlog_bytes"].max() > 0.9 * path.buffer_bytes
    assert queue["drops"].iloc[-1] > 0


def test_a_full_buffer_delays_by_its_size_over_the_rate(filled_record: Record) -> None:
    path = filled_record.plan.path
    full_ms = path.buffer_bytes * 8e3 / path.rate_bps
    most_ms = float(filled_record.samples.ping["rtt_ms"].max()) - path.rtt_ms
    print(f"largest queueing delay {most_ms:.3f} ms, a full buffer's {full_ms:.3f} ms")
    # A ping waits for the packet that is sent too; it seldom meets the very last byte.
    assert most_ms <= full_ms + 0.1
    assert most_ms >= 0.97 * full_ms


def test_packets_are_dropped_only_while_the_buffer_is_full(filled_record: Record) -> None:
    queue = filled_record.samples.queue
    buffer_bytes = filled_record.plan.path.buffer_bytes
    assert int(queue["drops"].max()) > 0
    dropped = queue["drops"].diff() > 0
    fullest = queue["backlog_bytes"].rolling(2).max()[dropped]
    assert (fullest > 0.9 * buffer_bytes).all()
    assert (queue["backlog_bytes"] <= buffer_bytes + filled_record.plan.path.frame_bytes).all()


def test_the_receiver_offers_the_window_asked_for(filled_record: Record) -> None:
    wanted = filled_record.plan.path.window_bytes
    largest = int(filled_record.samples.flows["snd_wnd_bytes"].max())
    print(f"largest window {largest} bytes, error {largest / wanted - 1:+.3%}")
    assert largest == pytest.approx(wanted, rel=0.01)


@pytest.mark.nightly
def test_random_loss_is_as_frequent_as_the_path_says(run_plan: RunPlan) -> None:
    # Ten thousand packets of 1e-2 loss: 100 expected, standard deviation 10.
    path = dataclasses.replace(SHORT, loss=1e-2)
    record = run_plan(single_flow("bbr", 5.0, path))
    after = record.data["readback"]["after"]["qdiscs"]
    lossy = next(q for q in after if "loss-random" in q.get("options", {}))
    share = lossy["drops"] / (lossy["drops"] + lossy["packets"])
    packets = lossy["drops"] + lossy["packets"]
    deviation = (share - 1e-2) / (1e-2 * (1 - 1e-2) / packets) ** 0.5
    print(f"{lossy['drops']} of {packets} packets lost, {deviation:+.2f} standard deviations")
    assert abs(deviation) < 4


def test_offloads_are_off_and_queues_are_read_back(filled_record: Record) -> None:
    readback = filled_record.data["readback"]
    assert {link["gso_max_segs"] for link in readback["before"]["links"]} == {1}
    active = [link["offloads"] for link in readback["before"]["links"]]
    assert not any(any(offloads.values()) for offloads in active)
    kinds = {q["dev"]: q["kind"] for q in readback["after"]["qdiscs"] if q.get("root")}
    assert kinds["s2-eth2"] == "bottleneck"
    delay_s = filled_record.plan.path.one_way_delay_s
    assert readback["after"]["far_delays_s"] == {"s1-eth1": delay_s, "s2-eth1": delay_s}
    assert readback["after"]["dropped_between_ports"] == 0


def test_a_card_that_refuses_an_offload_fails_the_run(run_plan: RunPlan) -> None:
    # Options refuse this before a lab starts: veth splits no segments without their checksums
    plan = dataclasses.replace(single_flow("reno", 2.0, SHORT), offloads=("tso",))
    with pytest.raises(CheckFailedError, match=r"tx-tcp-segmentation of \w+-eth0 is off"):
        run_plan(plan)


def test_a_lab_that_is_not_what_was_asked_fails_and_says_how(run_plan: RunPlan) -> None:
    path = SHORT
    path = dataclasses.replace(path, sysctl={**path.sysctl, "net.ipv4.tcp_telepathy": "1"})
    with pytest.raises(CheckFailedError, match=r"no setting net\.ipv4\.tcp_telepathy"):
        run_plan(single_flow("reno", 2.0, path))


def test_a_guest_without_enough_memory_fails_and_says_so(run_plan: RunPlan) -> None:
    # Four windows of 16 MB; 300 MiB hold them.
    with pytest.raises(LabFailedError, match="the guest ran out of memory"):
        run_plan(single_flow("htcp", 10.0, flows=4, memory_bytes=72 << 20))


def test_the_record_holds_every_package_version(filled_record: Record) -> None:
    provenance = filled_record.data["provenance"]
    for package in ("mininet", "openvswitch-switch", "iperf3", "iproute2", "crun"):
        assert provenance["lab"]["packages"][package]
    assert provenance["kernel"]["release"]
    json.dumps(provenance)


def test_the_schedule_starts_and_ends_flows_on_time(run_plan: RunPlan) -> None:
    path = dataclasses.replace(SHORT, loss=0.0)
    record = run_plan(make_plan(path, seven_regions("cubic", 4.0), seed=1, clock="virtual"))
    flows = record.samples.flows
    for flow in record.plan.schedule.flows:
        rows = flows[flows["flow"] == flow.name]
        carrying = rows[rows["throughput_bps"] > 1e6]
        assert carrying["t_s"].min() == pytest.approx(flow.start_s + 1, abs=1.1)
        assert carrying["t_s"].max() == pytest.approx(flow.stop_s, abs=1.1)


@pytest.mark.nightly
@pytest.mark.parametrize("mtu", ["1500", "3000"])
def test_a_buffer_of_packets_holds_as_many_of_any_size(run_plan: RunPlan, mtu: str) -> None:
    plan = RunRequest(
        rtt="20ms", rate="50Mbit", buffer="100packets", mtu=mtu, stack="4xreno",
        schedule="together", region="5s",
    ).plan()  # fmt: skip
    settings = dataclasses.replace(plan.settings, sample_interval_s=0.1)
    queue = run_plan(dataclasses.replace(plan, settings=settings)).samples.queue
    most = queue["backlog_packets"].max()
    print(f"most packets queued {most} / 100, {queue['drops'].max()} dropped")
    # A sample may miss the full buffer by what leaves in some milliseconds
    assert 90 <= most <= 100
    assert queue["drops"].max() > 0


def test_a_run_of_few_round_trips_says_in_its_record_why_it_carried_nothing(
    run_plan: RunPlan,
) -> None:
    record = run_plan(RunRequest(rtt="600ms", time="5s").plan())
    flows = record.samples.flows
    assert flows[flows["t_s"] <= record.plan.schedule.duration_s]["throughput_bps"].sum() == 0
    (warning,) = record.data["warnings"]
    assert warning.startswith("flow1 may carry next to nothing: 5 s are 8.3 round trips of 600 ms")
