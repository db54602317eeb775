"""Datagrams at a constant rate: they leave at their spacing, and what does not fit is lost."""

from __future__ import annotations

import pytest

from farpath.planning.request import RunRequest
from farpath.spec.datagram_arrivals import quantile_us
from farpath.spec.datagrams import HEADERS_BYTES
from farpath.spec.plan import Plan
from farpath.tools import socat
from tests.lab.conftest import RunPlan

SECONDS = 5.0
#: What a ping's 98 bytes, with 14 of Ethernet in them, take at 50 Mbit/s, and some clock readings.
PING_US = 20.0


def plan_of(stack: str, ip: str = "4") -> Plan:
    """One flow over 50 Mbit/s and 20 ms."""
    request = RunRequest(
        rtt="20ms", rate="50Mbit", buffer="125kB", stack=stack, schedule="together", region="5s",
        ip=ip,
    )  # fmt: skip
    return request.plan()


@pytest.mark.parametrize(
    ("text", "ip_version"),
    [("udp:size=1000,spacing=250000", 4), ("udp:rate=40000000", 6)],
)
def test_datagrams_leave_at_their_spacing_and_all_arrive(
    run_plan: RunPlan, text: str, ip_version: int
) -> None:
    record = run_plan(plan_of(text, str(ip_version)))
    (stack,) = record.plan.stacks
    size_bytes = int(stack.parameters["size"])
    assert size_bytes == (1000 if "size" in text else 1500 - HEADERS_BYTES[ip_version])
    rate_bps = 8e9 * size_bytes / 250_000 if "spacing" in text else 40e6
    counts = record.data["readback"]["datagrams"]["flow1"]
    assert counts["lost"] == counts["out_of_order"] == 0
    # What the sender's socket holds at the end counts as sent
    assert 0 <= counts["sent"] - counts["expected"] < 256
    rows = record.samples.flows
    # The first second begins before the first datagram arrives
    whole = rows[rows["interval_s"].between(0.999, 1.001)].iloc[1:]
    measured_bps = whole["throughput_bps"].to_numpy()
    print(f"{abs(measured_bps / rate_bps - 1).max():.2e} off {rate_bps / 1e6:g} Mbit/s, {counts}")
    # fq keeps the rate in whole bytes a second, and a packet's time in whole ns
    assert len(measured_bps) >= SECONDS - 2
    assert measured_bps == pytest.approx(rate_bps, rel=5e-4)


def at_twice_the_rate() -> Plan:
    """Datagrams whose frames take twice the bottleneck's rate."""
    path = plan_of("udp").path
    spacing_ns = round(8e9 * path.frame_bytes / (2 * path.rate_bps))
    return plan_of(f"udp:spacing={spacing_ns},arrivals=1")


def test_a_bottleneck_of_half_the_rate_loses_half(run_once: RunPlan) -> None:
    record = run_once(at_twice_the_rate())
    path = record.plan.path
    counts = record.data["readback"]["datagrams"]["flow1"]
    held = path.buffer_bytes / path.frame_bytes
    lost = 0.5 - held / counts["sent"]
    print(f"{counts['lost'] / counts['expected']:.4f} lost, {lost:.4f} by the buffer's size")
    assert counts["lost"] / counts["expected"] == pytest.approx(lost, abs=0.01)
    assert record.samples.queue["drops"].iloc[-1] == pytest.approx(counts["lost"], rel=0.03)


def test_without_a_queue_datagrams_arrive_as_they_leave(run_plan: RunPlan) -> None:
    record = run_plan(plan_of("udp:size=1000,spacing=1000000,arrivals=1"))
    counts = record.data["readback"]["datagrams"]["flow1"]
    arrivals = counts["arrivals"]
    print(f"jitter {arrivals['jitter_us']:.3f} us, iperf3's {counts['jitter_ms'] * 1e3:.0f} us")
    assert arrivals["deviations"] == counts["sent"] - 1
    # A reading of the virtual clock takes 256 ns, and some are between a packet and its stamp
    assert arrivals["jitter_us"] < 1.0
    assert quantile_us(arrivals["histogram"], 0.99) <= 2.0


def test_behind_a_bottleneck_of_half_the_rate_arrivals_are_its_frames_apart(
    run_once: RunPlan,
) -> None:
    record = run_once(at_twice_the_rate())
    frame_ns = 8e9 * record.plan.path.frame_bytes / record.plan.path.rate_bps
    histogram = record.data["readback"]["datagrams"]["flow1"]["arrivals"]["histogram"]
    total = sum(count for _, count in histogram)
    # Of two datagrams one is lost: those that follow each other in the queue are one frame apart,
    # so the deviation is that of none, one or two lost between them
    expected_us = [(frame_ns - gap * frame_ns / 2) / 1e3 for gap in (1, 2, 3)]
    near = sum(
        count for middle, count in histogram if any(abs(middle - each) <= 3 for each in expected_us)
    )
    print(f"{near / total:.4f} of {total} at {expected_us} us")
    assert near / total > 0.99


def test_other_traffic_delays_datagrams_by_its_frames(run_plan: RunPlan) -> None:
    request = RunRequest(
        rtt="20ms", rate="50Mbit", buffer="125kB", schedule="together", region="5s",
        stack="udp:size=1000,spacing=1000000,arrivals=1", background="cbr:10Mbit",
    )  # fmt: skip
    plan = request.plan()
    record = run_plan(plan)
    arrivals = record.data["readback"]["datagrams"]["flow1"]["arrivals"]
    frame_us = 8e6 * plan.path.frame_bytes / plan.path.rate_bps
    print(f"jitter {arrivals['jitter_us']:.1f} us, most {arrivals['most_us']:.0f} us, {frame_us}")
    # The queue is empty before each burst of the source, so none waits for more than it and a ping
    burst_us = frame_us * socat.datagram_packets(10_000_000, plan.path.mtu_bytes, 4)
    assert 5.0 < arrivals["jitter_us"] < frame_us
    assert frame_us / 2 < arrivals["most_us"] <= burst_us + PING_US
