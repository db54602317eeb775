"""UDT in the lab: its published rate steps, what it carries, and equal runs."""

from __future__ import annotations

import dataclasses
import gzip
import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from itertools import pairwise
from math import ceil, log10
from typing import Any

import pytest

from farpath.lab.artifacts.images import find_images
from farpath.record.record import Record
from farpath.spec.dropper import Dropper
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from tests.support.paths import LONG
from tests.support.processes import interruptible

from ..conftest import RunPlan, single_flow

#: draft-gg-udt-01, sections 3.3 and 3.6: the rate changes once in a SYN, by a number of
#: packets that follows from the spare bandwidth and the packet size.
SYN_S = 0.01
BETA = 0.0000015
MSS_BYTES = 1500
PAYLOAD_BYTES = MSS_BYTES - 28 - 16
#: Headers and payload of a full packet on the wire, Ethernet's 14 bytes with it.
FRAME_BYTES = MSS_BYTES + 14
#: Least increase, in packets: 1/MSS in the draft, 0.01 in UDT 4 (ccc.cpp).
LEAST = {"udt": 1 / MSS_BYTES, "udt4": 0.01}
SAMPLE_S = 0.1
SYNS_PER_SAMPLE = round(SAMPLE_S / SYN_S)

Row = dict[str, Any]


def short_path(loss: float = 0.0) -> Path:
    """100 Mbit/s over 40 ms with four times its bandwidth-delay product as buffer."""
    return dataclasses.replace(
        LONG,
        name="short",
        rtt_ms=40,
        rate_bps=100_000_000,
        buffer_bytes=2_000_000,
        loss=loss,
    )


def sender_rows(record: Record, flow: str = "flow1") -> list[Row]:
    """What udtperf said of each interval, UDT's own values with it."""
    with gzip.open(record.directory / "raw" / f"{flow}-sender.out.gz", "rt") as file:
        return [interval["streams"][0] for interval in json.load(file)["intervals"]]


def settled(rows: list[Row]) -> list[Row]:
    """Rows from 3 s after the first loss: the quick start is over, its losses are mended."""
    first = next(index for index, row in enumerate(rows) if row["naks"])
    return rows[first + round(3 / SAMPLE_S) :]


def undisturbed(rows: list[Row]) -> Iterator[tuple[Row, Row]]:
    """Neighbours without a loss in either."""
    for before, after in pairwise(rows):
        if not (before["lost_packets"] or after["lost_packets"] or after["retransmits"]):
            yield before, after


def increase_packets(link_mbps: float, period_us: float, stack: str) -> float:
    """Packets more in the next SYN: rule 3 of section 3.6."""
    link_pps = link_mbps * 1e6 / 8 / PAYLOAD_BYTES
    spare_bps = (link_pps - 1e6 / period_us) * MSS_BYTES * 8
    if spare_bps <= 0:
        return LEAST[stack]
    return max(10 ** ceil(log10(spare_bps)) * BETA / MSS_BYTES, LEAST[stack])


def steps_around(row: Row, stack: str) -> set[float]:
    """The step for the link's estimate as reported, and as it may be between reports.

    Packet pairs tell it within three parts in a hundred.
    """
    return {
        increase_packets(row["bandwidth_mbps"] * part, row["snd_period_us"], stack)
        for part in (0.97, 1.0, 1.03)
    }


def packets_per_syn(row: Row) -> float:
    """The sending rate that rate control allows.

    UDT 2 adds a SYN to its period where it stands still for one after a loss.
    """
    period_us: float = row["snd_period_us"]
    return SYN_S * 1e6 / (period_us - SYN_S * 1e6 if period_us > SYN_S * 1e6 else period_us)


def lossy_run(run_plan: RunPlan, stack: str) -> list[Row]:
    """20 s with a lost packet every few seconds."""
    plan = single_flow(stack, 20.0, short_path(loss=5e-5), sample_interval_s=SAMPLE_S)
    return settled(sender_rows(run_plan(plan)))


@pytest.mark.parametrize("stack", ["udt", "udt4"])
def test_udt_grows_by_the_published_step_in_each_syn_and_falls_by_an_eighth(
    run_plan: RunPlan, stack: str
) -> None:
    rows = lossy_run(run_plan, stack)
    assert_grows(rows, stack)
    assert_falls(rows, stack)


def assert_grows(rows: list[Row], stack: str) -> None:
    """One step for each ACK, of which the receiver sends one in a SYN."""
    judged = 0
    for before, after in undisturbed(rows):
        steps = steps_around(before, stack) | steps_around(after, stack)
        if len(steps) > 1 or after["acks"] < SYNS_PER_SAMPLE - 1:
            continue  # the decade of the spare bandwidth may change, or nothing was sent
        step = steps.pop()
        grown = packets_per_syn(after) - packets_per_syn(before)
        print(f"{stack}: {after['acks']} ACKs, grew {grown / step:.2f} steps of {step:g} packets")
        # An ACK may still be counted in one sample and work in the next. Periods are
        # printed to a millionth of a us and are whole nanoseconds in the program.
        rounding = 0.002 * packets_per_syn(after) / after["snd_period_us"]
        assert abs(grown - after["acks"] * step) <= step * 1.01 + rounding
        judged += 1
    assert judged >= 30, f"only {judged} samples without disturbance"


def assert_falls(rows: list[Row], stack: str) -> None:
    """A lost packet on its own lengthens the period by an eighth, once."""
    judged = 0
    for before, after in pairwise(rows):
        if after["naks"] != 1 or before["naks"] or before["lost_packets"]:
            continue
        # Up to eleven increases before or after the one decrease, none more than the step
        # of the lower rate
        fallen = packets_per_syn(before) * 8 / 9
        lower = {**before, "snd_period_us": before["snd_period_us"] * 9 / 8}
        step = max(steps_around(lower, stack))
        rate = packets_per_syn(after)
        print(f"{stack}: fell to {rate / packets_per_syn(before):.4f} of its rate, 8/9 = 0.8889")
        # UDT 4 rounds the period up to a whole us after its decrease (ccc.cpp, onLoss)
        rounding = 1.0 if stack == "udt4" else 0.0
        assert rate >= SYN_S * 1e6 / (SYN_S * 1e6 / fallen + rounding) * 0.999
        assert rate <= fallen + (SYNS_PER_SAMPLE + 1) * step
        judged += 1
    assert judged >= 3, f"only {judged} losses on their own"


#: The part of 250 packets that a loss leaves, and the growth in a round trip, in packets, at the
#: window that is left: RFC 5681; RFC 3649, section 5; Kelly 2003, a = 0.01 for each packet.
WINDOW_RULES = {"reno": (0.5, 1.0), "hstcp": (0.598, 2.4), "scalable": (0.875, 2.2)}


@pytest.mark.parametrize("congestion", list(WINDOW_RULES))
def test_udt_with_tcps_windows_falls_and_grows_as_the_papers_say(
    run_plan: RunPlan, congestion: str
) -> None:
    kept, growth_packets = WINDOW_RULES[congestion]
    # 250 packets need less than the path's product of 330, so no queue grows
    stack = f"udt4:congestion={congestion},fc=250"
    plan = single_flow(stack, 4.0, short_path(), sample_interval_s=SAMPLE_S)
    plan = dataclasses.replace(plan, droppers=(Dropper("packets", (5000,)),))
    rows = sender_rows(run_plan(plan))
    lost = next(index for index, row in enumerate(rows) if row["naks"])
    windows = [row["snd_cwnd"] / PAYLOAD_BYTES for row in rows]
    # Two samples are more than four round trips: the loss is mended
    left, later = windows[lost + 2], windows[lost + 6]
    round_trips = 4 * SAMPLE_S / 0.040
    print(f"{congestion}: {windows[lost - 1]:.0f} packets, {left:.0f}, {later:.0f} after 0.4 s")
    assert windows[lost - 1] == pytest.approx(250, rel=0.01)
    assert left == pytest.approx(250 * kept + 2 * growth_packets, rel=0.05)
    assert (later - left) / round_trips == pytest.approx(growth_packets, rel=0.15)


def test_udt_at_a_constant_rate_keeps_it_through_losses(run_plan: RunPlan) -> None:
    stack = "udt4:congestion=blast,max_rate=20000000"
    plan = single_flow(stack, 4.0, short_path(loss=0.01), sample_interval_s=1.0)
    rows = sender_rows(run_plan(plan))
    # max_rate counts IP packets, and the second of each packet pair, one in 16, comes on top; in
    # the first sample it connects
    sent = [row["packets"] * MSS_BYTES * 8 / 20e6 * 15 / 16 for row in rows[1:3]]
    print("packets sent / due:", sent, "lost", [row["lost_packets"] for row in rows])
    assert all(row["lost_packets"] for row in rows[1:3])
    assert sent == pytest.approx([1.0, 1.0], rel=0.01)


def test_udt_fills_four_fifths_of_the_cern_path(run_plan: RunPlan) -> None:
    plan = single_flow("udt", 30.0)
    flows = run_plan(plan).samples.flows
    later = flows[(flows["t_s"] > 10.5) & (flows["t_s"] <= 30.5)]
    measured_bps = later["throughput_bps"].mean()
    capacity_bps = plan.path.rate_bps * PAYLOAD_BYTES / FRAME_BYTES
    print(f"udt: {measured_bps / 1e6:.0f} of {capacity_bps / 1e6:.0f} Mbit/s after 10 s")
    assert measured_bps > 0.8 * capacity_bps


def four_flows() -> Plan:
    """Four UDT flows that lose packets: threads, timers and random choices take part."""
    return single_flow("udt", 3.0, short_path(loss=1e-4), flows=4)


def test_two_equal_runs_of_udt_give_equal_fingerprints(run_plan: RunPlan) -> None:
    assert run_plan(four_flows()).fingerprint == run_plan(four_flows()).fingerprint


def udtperf(*arguments: str) -> subprocess.Popen[str]:
    """The end hosts' program on this machine, with the end hosts' own libraries."""
    root = find_images().sender / "rootfs"
    command = [
        str(root / "lib64" / "ld-linux-x86-64.so.2"),
        *("--library-path", str(root / "usr" / "lib" / "x86_64-linux-gnu")),
        str(root / "usr" / "bin" / "udtperf"),
        *arguments,
    ]
    return subprocess.Popen(
        interruptible(command),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_port() -> str:
    """A UDP port that nobody has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def test_a_terminated_sender_reports_what_it_sent() -> None:
    port = free_port()
    small = ["--port", port, "--json", "--udp-rcvbuf", "200000", "--udp-sndbuf", "200000"]
    server = udtperf("--server", "--one-off", *small)
    client = udtperf("--client", "127.0.0.1", "--time", "60", "--max-rate", "10000000", *small)
    time.sleep(2.5)
    client.send_signal(signal.SIGTERM)
    sent, _ = client.communicate(timeout=30)
    received, _ = server.communicate(timeout=60)
    report = json.loads(sent)
    assert client.returncode == 0
    assert "error" not in report
    assert len(report["intervals"]) >= 2
    # The server knows that a minute was meant, and says that it was not
    assert server.returncode == 1
    assert "the transfer ended after" in json.loads(received)["error"]


def test_a_server_that_nobody_calls_ends_when_told() -> None:
    server = udtperf("--server", "--one-off", "--port", free_port(), "--json")
    time.sleep(1.0)
    server.send_signal(signal.SIGINT)
    output, _ = server.communicate(timeout=30)
    assert server.returncode == 0
    assert json.loads(output)["intervals"] == []


def test_a_buffer_that_the_kernel_cuts_is_refused() -> None:
    port = free_port()
    large = ["--port", port, "--udp-rcvbuf", "1000000000"]
    server = udtperf("--server", "--one-off", *large)
    client = udtperf("--client", "127.0.0.1", "--time", "1", *large)
    _, output = client.communicate(timeout=30)
    server.communicate(timeout=60)
    assert client.returncode == 1
    assert "raise net.core.rmem_max" in output


def test_a_server_that_is_not_there_is_named() -> None:
    port = free_port()
    client = udtperf("--client", "127.0.0.1", "--time", "1", "--port", port)
    _, output = client.communicate(timeout=30)
    assert client.returncode == 1
    assert f"cannot connect to 127.0.0.1 port {port}" in output
