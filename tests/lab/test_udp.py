"""Datagrams at a constant rate: they leave at their spacing, and what does not fit is lost."""

from __future__ import annotations

import pytest

from farpath.planning.request import RunRequest
from farpath.spec.datagrams import HEADERS_BYTES
from farpath.spec.plan import Plan
from tests.lab.conftest import RunPlan

SECONDS = 5.0


def plan_of(stack: str, ip: str = "4") -> Plan:
    """One flow over 50 Mbit/s and 20 ms."""
    request = RunRequest(
        rtt="20ms", rate="50Mbit", buffer="125kB", stack=stack, schedule="together", region="5s",
        ip=ip,
    )  # fmt: skip
    return request.plan()


@pytest.mark.parametrize(
    ("text", "ip_version"),
    [("udp:size=1000,spacing=250000", 4), ("udp:rate=40000000", 4), ("udp:rate=40000000", 6)],
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


def test_a_bottleneck_of_half_the_rate_loses_half(run_plan: RunPlan) -> None:
    path = plan_of("udp").path
    spacing_ns = round(8e9 * path.frame_bytes / (2 * path.rate_bps))
    record = run_plan(plan_of(f"udp:spacing={spacing_ns}"))
    counts = record.data["readback"]["datagrams"]["flow1"]
    held = path.buffer_bytes / path.frame_bytes
    lost = 0.5 - held / counts["sent"]
    print(f"{counts['lost'] / counts['expected']:.4f} lost, {lost:.4f} by the buffer's size")
    assert counts["lost"] / counts["expected"] == pytest.approx(lost, abs=0.01)
    assert record.samples.queue["drops"].iloc[-1] == pytest.approx(counts["lost"], rel=0.03)
