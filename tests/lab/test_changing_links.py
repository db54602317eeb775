"""Links that change during a run: steps of rate and delay, traces, and the rate of the way back."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path as FilePath
from statistics import median

import pytest

from farpath.mechanisms.capture.capture_files import captured_files
from farpath.mechanisms.changes.carried import LATE_S
from farpath.metrics.flow import mean_bps
from farpath.planning.request import RunRequest
from farpath.record.record import Record
from farpath.spec.changes import Timeline
from farpath.spec.deliveries import OPPORTUNITY_BYTES, opportunities_before
from farpath.spec.ethernet import ETHERNET_HEADER_BYTES
from farpath.tools import tc
from tests.lab.conftest import RunPlan
from tests.support.captures import tcp_packets

#: An acknowledgement with timestamps: headers of Ethernet, IPv4 and TCP with options.
ACK_FRAME_BYTES = 14 + 20 + 32
#: What a ping's RTT may differ by: four timers of 511 ns at most, and a frame of the flow before
#: it.
PING_MS = 0.0045


def _times(before: tc.QueueSample, after: tc.QueueSample, rates: Timeline) -> float:
    """How many frames the new rate would carry in the time of one at the old, of all changes."""
    steps = zip(rates.at_s[1:], pairwise(rates.values), strict=True)
    return sum(
        max(1.0, later / earlier)
        for at_s, (earlier, later) in steps
        if before.t_s < at_s <= after.t_s
    )


def _queue(record: Record) -> list[tc.QueueSample]:
    with gzip.open(record.directory / "raw" / "queue.txt.gz", "rt") as file:
        return tc.parse_samples(file.read())


def test_a_changing_rate_delivers_its_integral_within_two_frames(run_plan: RunPlan) -> None:
    request = RunRequest(
        rtt="20ms", rate="40Mbit,2.05s:10Mbit,4.05s:80Mbit", buffer="100packets", time="6s",
        stack="udp:rate=100000000", sample="100ms",
    )  # fmt: skip
    record = run_plan(request.plan())
    rates, frame_bytes = record.plan.rates, record.plan.path.frame_bytes
    changes = [(change["at_s"], change["rate_bps"]) for change in record.readback["link_changes"]]
    assert changes == [(2.05, 10_000_000), (4.05, 80_000_000)]
    late_s = [change["done_s"] - change["at_s"] for change in record.readback["link_changes"]]
    print(f"changes were {max(late_s) * 1e6:.0f} us late at most")
    assert all(0 < late < LATE_S for late in late_s)
    busy = [sample for sample in _queue(record) if 0.2 < sample.t_s < 5.9]
    for before, after in pairwise(busy):
        carried, allowed = after.bytes - before.bytes, rates.integral(before.t_s, after.t_s) / 8
        # A frame that is being sent at a change ends at the rate at which it began
        assert abs(carried - allowed) <= frame_bytes * (1 + _times(before, after, rates))
    whole = busy[-1].bytes - busy[0].bytes
    allowed = rates.integral(busy[0].t_s, busy[-1].t_s) / 8
    print(f"carried {whole:,} bytes of {allowed:,.0f}, {whole / allowed - 1:+.5%}")
    assert abs(whole - allowed) <= frame_bytes * (1 + _times(busy[0], busy[-1], rates))


@pytest.mark.nightly
@pytest.mark.parametrize("queue", ["fq_codel", "dualpi2"])
def test_an_active_queue_stays_when_the_rate_before_it_changes(
    run_plan: RunPlan, queue: str
) -> None:
    request = RunRequest(rtt="20ms", rate="20Mbit,2s:10Mbit", time="5s", stack="cubic", queue=queue)
    record = run_plan(request.plan())
    assert [change["rate_bps"] for change in record.readback["link_changes"]] == [10_000_000]
    slower = mean_bps(record, from_s=3.0)
    print(f"{slower / 1e6:.2f} Mbit/s of data at 10 Mbit/s")
    assert 0.9 * 10e6 < slower < 10e6


@pytest.mark.parametrize("guests", ["a guest for each site", "one guest"])
def test_a_step_of_the_delay_moves_ping_at_its_moment(run_plan: RunPlan, guests: str) -> None:
    # A ping that is sent 5 ms before a change meets the old delay towards the receiver, and the new
    # one on its way back.
    request = RunRequest(
        rtt="20ms,2.005s:30ms,4.005s:10ms", rate="10Gbit", time="6s", stack="udp:rate=1000000"
    )
    plan = request.plan()
    record = run_plan(plan if guests != "one guest" else plan.in_one_guest())
    expected_ms = [20.0, 20.0, 10.0 + 15.0, 30.0, 15.0 + 5.0, 10.0]
    measured_ms = record.samples.ping["rtt_ms"].to_list()
    off_ms = [got - wanted for got, wanted in zip(measured_ms, expected_ms, strict=True)]
    print(f"pings are {max(map(abs, off_ms)) * 1e3:.1f} us off at most")
    # The first ping waits for the switches to learn the path
    assert all(abs(off) <= PING_MS for off in off_ms[1:])


@pytest.mark.nightly
@pytest.mark.parametrize("stack", ["cubic", "bbr"])
def test_a_flow_follows_a_rate_down_and_up(run_plan: RunPlan, stack: str) -> None:
    request = RunRequest(
        rtt="20ms", rate="40Mbit,3s:10Mbit,5s:40Mbit", stack=stack, time="8s", buffer="2xBDP"
    )
    record = run_plan(request.plan())
    carried = {round(sample.t_s): sample.bytes for sample in _queue(record)}
    for start_s, stop_s in ((2, 3), (4, 5), (7, 8)):
        allowed = record.plan.rates.integral(start_s, stop_s) / 8
        used = (carried[stop_s] - carried[start_s]) / allowed
        print(f"{stack} has {used:.1%} of the rate from {start_s} to {stop_s} s")
        assert 0.85 < used < 1.001


def test_the_way_back_limits_a_flow_by_its_acknowledgements(run_plan: RunPlan) -> None:
    # With delayed ACKs each frame of 66 bytes lets two segments go, so that the rate of the way
    # back is that of the flow (RFC 3449, section 2.1: the normalised bandwidth ratio). The small
    # window is soon full, so that it lets no packet go by growing, and keeps the queue of ACKs
    # within its buffer: a lost one would let the next stand for both.
    request = RunRequest(
        rtt="20ms", rate="100Mbit", up_rate="200kbit", window="128KiB", stack="cubic", time="6s",
        capture="sender:96",
    )  # fmt: skip
    record = run_plan(request.plan())
    law = 2 * 200e3 / (8 * ACK_FRAME_BYTES)
    packets = {round(sample.t_s): sample.packets for sample in _queue(record)}
    measured = (packets[6] - packets[3]) / 3
    print(f"{measured:.1f} packets/s, law {law:.1f}, {measured / law - 1:+.2%}")
    assert measured == pytest.approx(law, rel=0.01)
    # Each ACK comes when the link has sent it
    acks = tcp_packets(captured_files(record)["sender"], "tcp src port 5201 and less 70")
    times_ns = [packet.time_ns for packet in acks if packet.flags == "."]
    settled_ns = [time_ns for time_ns in times_ns if time_ns - times_ns[0] > 3e9]
    gaps_us = [(after - before) / 1e3 for before, after in pairwise(settled_ns)]
    own_us = 8e6 * ACK_FRAME_BYTES / 200e3
    print(f"{len(gaps_us)} ACKs are {median(gaps_us):.2f} us apart, own time {own_us:.2f} us")
    assert len(gaps_us) > 500
    assert median(gaps_us) == pytest.approx(own_us, abs=0.5)
    # But for those that meet a ping, or a sender that is busy
    exact = [gap_us for gap_us in gaps_us if abs(gap_us - own_us) < 0.5]
    assert len(exact) > 0.98 * len(gaps_us)


@pytest.mark.parametrize(
    ("queue", "mtu_bytes"), [("droptail", 1500), ("droptail", 4000), ("dualpi2:target=500ms", 4000)]
)
def test_a_trace_delivers_a_packet_at_each_opportunity(
    run_plan: RunPlan, tmp_path: FilePath, queue: str, mtu_bytes: int
) -> None:
    # 40 packets in the first tenth of each half second, then pairs, then none
    times_ms = [*range(1, 41), *(ms for ms in range(100, 400, 10) for _ in range(2)), 500]
    trace = tmp_path / "mine.down"
    trace.write_text("".join(f"{ms}\n" for ms in times_ms))
    request = RunRequest(
        rtt="20ms", rate=f"trace:{trace}", buffer="50packets", time="5s", queue=queue,
        mtu=str(mtu_bytes), stack="udp:rate=10000000", sample="100ms",
    )  # fmt: skip
    record = run_plan(request.plan())
    busy = [sample for sample in _queue(record) if sample.t_s > 0.2]
    # A sample comes some microseconds after its time, behind what that moment delivers
    counts = [opportunities_before(times_ms, sample.t_s + LATE_S) for sample in busy]
    delivered = [sample.bytes - ETHERNET_HEADER_BYTES * sample.packets for sample in busy]
    for number in range(1, len(busy)):
        allowed = OPPORTUNITY_BYTES * (counts[number] - counts[number - 1])
        assert abs(delivered[number] - delivered[number - 1] - allowed) < mtu_bytes
    whole, allowed = delivered[-1] - delivered[0], OPPORTUNITY_BYTES * (counts[-1] - counts[0])
    print(f"{whole:,} bytes were delivered, the opportunities are of {allowed:,}")
    assert abs(whole - allowed) < mtu_bytes


@pytest.mark.nightly
def test_a_run_over_a_changing_path_is_always_the_same(
    run_plan: RunPlan, tmp_path: FilePath
) -> None:
    trace = tmp_path / "mine.down"
    trace.write_text("".join(f"{ms}\n" for ms in range(1, 60, 2)))
    requests = [
        RunRequest(rtt="20ms,2s:30ms,4s:20ms", rate="40Mbit,3s:10Mbit", loss="1e-3",
                   up_rate="1Mbit", stack="cubic", time="5s"),
        RunRequest(rtt="20ms", rate=f"trace:{trace}", stack="cubic", time="5s"),
    ]  # fmt: skip
    for request in requests:
        first, again = run_plan(request.plan()), run_plan(request.plan())
        assert first.fingerprint == again.fingerprint
        assert first.data["readback"] == again.data["readback"]
