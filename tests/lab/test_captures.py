"""Captures hold the packets of a run with their virtual times, and change nothing of it."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pandas as pd
import pytest

from farpath.captures.analysis import MARKS, marked
from farpath.captures.delays import connection_between, merge, queueing_histogram, summary
from farpath.captures.segments import read_segments
from farpath.lab.run import run
from farpath.mechanisms.capture.capture_files import captured_files
from farpath.planning.path_options import resolve_path
from farpath.planning.request import RunRequest
from farpath.record.record import Record, load_record
from farpath.spec.capture import DEFAULT_SNAP_BYTES, Capture
from farpath.spec.capture_sizes import most_bytes
from farpath.spec.plan import Plan
from tests.lab.conftest import RunPlan, single_flow
from tests.support.captures import Packet, tcp_packets, tcpdump, tshark, write_two_packets

RTT_NS = 40_000_000
RATE_BPS = 50_000_000
PATH = resolve_path(rtt="40ms", rate="50Mbit", window="1MB")
#: Ethernet frame of a full packet, and how long the bottleneck takes to send it.
FRAME_BYTES = 1514
SERIALISATION_NS, ACK_NS = 8e9 * FRAME_BYTES / RATE_BPS, 8e9 * 66 / RATE_BPS
#: How late the timers of delay line and bottleneck are, and what a sender takes for ten packets.
LATE_NS = 10_000
#: What starting a program takes: it reads the clock some hundred times.
START_NS = 500_000
#: How many packets of a file are read, and what the file of the bottleneck has of each.
READ_PACKETS, SNAP_BYTES = 3_000, 96


def _with_captures(plan: Plan, *captures: Capture) -> Plan:
    return dataclasses.replace(plan, captures=captures)


def _full(packets: list[Packet]) -> list[Packet]:
    """The first packets of data, which a sender sends at once (RFC 6928)."""
    return [packet for packet in packets if packet.payload_bytes == 1448][:10]


def _file_of(record: Record, place: str) -> list[Packet]:
    return tcp_packets(captured_files(record)[place], "-c", str(READ_PACKETS))


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A flow of two seconds, captured at both hosts, and the headers at the bottleneck."""
    places = (Capture("sender"), Capture("receiver"), Capture("bottleneck", SNAP_BYTES))
    plan = _with_captures(single_flow("cubic", 2.0, PATH), *places)
    out = tmp_path_factory.mktemp("captured")
    return load_record(run(plan, out, force=True, watch=lambda _event: None).directory)


def test_captures_show_half_the_rtt_and_serialisation_and_cost_no_virtual_time(
    run_plan: RunPlan, captured: Record
) -> None:
    assert captured.fingerprint == run_plan(_with_captures(captured.plan)).fingerprint
    sent, received, passed = (
        _file_of(captured, place) for place in ("sender", "receiver", "bottleneck")
    )
    assert 0 <= sent[0].time_ns < START_NS
    assert sent[0].flags == received[0].flags == passed[0].flags == "S"
    first, arrived = _full(sent), _full(received)
    assert first[-1].time_ns - first[0].time_ns < LATE_NS
    delays_ns = [there.time_ns - here.time_ns for here, there in zip(first, arrived, strict=True)]
    # The acknowledgement that ends the handshake goes first
    for number, delay_ns in enumerate(delays_ns, start=1):
        waited_ns = delay_ns - RTT_NS / 2 - ACK_NS
        assert abs(waited_ns - number * SERIALISATION_NS) < LATE_NS
    assert [packet.time_ns for packet in _full(passed)] == [packet.time_ns for packet in arrived]
    for one in captured.plan.captures:
        counts = captured.data["captures"][one.place]
        size_bytes = captured_files(captured)[one.place].stat().st_size
        assert counts["packets"] > 5_000
        assert counts["missed"] == 0
        assert size_bytes < most_bytes(captured.plan, one)


def test_tshark_reads_the_same_packets_with_their_interfaces_and_lengths(captured: Record) -> None:
    fields = ("frame.time_epoch", "frame.interface_name", "frame.len", "frame.cap_len", "tcp.len")
    for place, port, held_bytes in (
        ("sender", "sender-eth0", DEFAULT_SNAP_BYTES),
        ("bottleneck", "s2-eth2", SNAP_BYTES),
    ):
        packets = tshark(captured_files(captured)[place], fields, READ_PACKETS)
        assert len(packets) == READ_PACKETS
        assert {packet["frame.interface_name"] for packet in packets} == {port}
        of_tcp = [
            (int(packet["frame.time_epoch"].replace(".", "")), int(packet["tcp.len"]))
            for packet in packets
            if packet["tcp.len"]
        ]
        as_tcpdump = _file_of(captured, place)
        assert of_tcp == [(packet.time_ns, packet.payload_bytes) for packet in as_tcpdump]
        full = [packet for packet in packets if packet["tcp.len"] == "1448"]
        assert {packet["frame.len"] for packet in full} == {str(FRAME_BYTES)}
        assert {packet["frame.cap_len"] for packet in full} == {str(held_bytes)}


def test_captures_of_both_hosts_give_the_drops_and_delays_of_the_run(captured: Record) -> None:
    near, far = (read_segments(captured_files(captured)[at]) for at in ("sender", "receiver"))
    connection = max(near.connections, key=lambda one: one.client_bytes)
    there = connection_between(far, connection.ends)
    assert there is not None
    merged = merge(near.of(connection), far.of(there))
    (queue,) = captured.data["readback"]["after"]["flow_drops"]["queues"].values()
    drops = queue["there"]["flow1"]
    assert len(merged.to_server.lost) == drops > 0
    back_ns = merged.to_client.delays["delay_ns"]
    assert back_ns.between(RTT_NS // 2, RTT_NS // 2 + LATE_NS).all()
    ahead_ns = merged.to_server.delays["delay_ns"]
    assert abs(ahead_ns.min() - RTT_NS / 2) < SERIALISATION_NS + LATE_NS
    # The queue was full, and the last packet that it held waited for the whole buffer
    histogram = queueing_histogram(merged.to_server)
    assert sum(count for _, count in histogram) == len(ahead_ns)
    full_ms = 8e3 * captured.plan.path.buffer_bytes / RATE_BPS
    assert full_ms / 1.1 < histogram[-1][0] < full_ms * 1.2
    assert (
        full_ms / 2
        < float(summary(merged.to_server)["p999_ms"] or 0) - RTT_NS / 2e6
        <= full_ms + 0.3
    )
    # What the bottleneck dropped is sent again once, and nothing else is
    assert marked(near.of(connection), connection)["retransmission"].sum() == drops
    assert not marked(far.of(there), there)["ack_lost_segment"].any()


def test_tshark_gives_the_same_marks_of_a_run(captured: Record) -> None:
    fields = [f"tcp.analysis.{name}" for name in MARKS]
    for place in ("sender", "receiver"):
        file = captured_files(captured)[place]
        packets = tshark(file, fields, captured.data["captures"][place]["packets"])
        capture = read_segments(file)
        marks = pd.concat([marked(capture.of(one), one) for one in capture.connections])
        ours, theirs = (dict[str, set[int]](), dict[str, set[int]]())
        for name, field in zip(MARKS, fields, strict=True):
            ours[name] = set(capture.segments.loc[marks.index[marks[name]], "packet"])
            theirs[name] = {row for row, packet in enumerate(packets, 1) if packet[field]}
        # tshark 4.0 takes what is sent again into a hole between SACK blocks for out of order
        again = ours["fast_retransmission"] & theirs["out_of_order"]
        for name in ("retransmission", "fast_retransmission"):
            theirs[name] |= again
        theirs["out_of_order"] -= again
        assert ours == theirs
        assert ours["duplicate_ack"]


def test_each_host_of_a_path_with_many_can_be_captured(run_plan: RunPlan) -> None:
    plan = RunRequest(
        rtt="1ms", rate="20Mbit", buffer="100kB", stack="reno+cubic", senders="rtt=4ms",
        reverse="reno", ip="6", time="5s",
    ).plan()  # fmt: skip
    places = ("sender", "sender2", "receiver", "bottleneck", "bottleneck2")
    captured = run_plan(_with_captures(plan, *map(Capture, places)))
    files = {place: _file_of(captured, place) for place in places}
    opened = {place: [p for p in packets if p.flags == "S"] for place, packets in files.items()}
    to_port = {
        place: {packet.receiver.rpartition(".")[2] for packet in found}
        for place, found in opened.items()
    }
    assert to_port["sender2"] < to_port["receiver"]
    assert to_port["receiver"] == to_port["bottleneck"] == to_port["bottleneck2"]


def test_tcpdump_reads_times_in_nanoseconds_and_packets_of_any_length(tmp_path: FilePath) -> None:
    file = tmp_path / "receiver.pcapng"
    write_two_packets(file)
    first, second = tcpdump(file).splitlines()
    assert first.startswith("5.000000001 IP 10.0.0.2.1 > 10.0.0.1.2: UDP")
    assert second.startswith("9.294967297 IP 10.0.0.2.1 > 10.0.0.1.2: UDP")
