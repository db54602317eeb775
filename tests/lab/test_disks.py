"""Disks of end hosts: a transfer is as fast as its slowest stage, and its bytes go through them."""

from __future__ import annotations

import pytest

from farpath.mechanisms.disk.mechanism import disk_counts
from farpath.metrics.run import per_second
from farpath.planning.request import RunRequest
from farpath.spec.plan import Plan
from tests.lab.conftest import RunPlan

SECONDS = 5.0
BLOCK_BYTES = 131_072


def plan_of(stack: str, source: str | None = None, sink: str | None = None) -> Plan:
    """Flows over 100 Mbit/s and 10 ms."""
    return RunRequest(
        rtt="10ms", rate="100Mbit", stack=stack, time="5s", source=source, sink=sink
    ).plan()


def test_flows_share_the_rate_of_the_disk_that_they_read(run_plan: RunPlan) -> None:
    plan = plan_of("2xreno", source="disk:5MB/s,readahead=1MB")
    record = run_plan(plan)
    last_mbps = per_second(record.samples, plan.schedule).iloc[1:-1].sum(axis="columns") / 1e6
    print(f"{last_mbps.tolist()} Mbit/s, {disk_counts(record)}")
    # A second has whole blocks of each flow
    assert last_mbps.mean() == pytest.approx(40, abs=8 * BLOCK_BYTES / 1e6)
    disk = disk_counts(record)["sender"]
    assert disk["idle_s"] == 0
    # From the first read on, some round trips after the start
    assert disk["moved_bytes"] == pytest.approx(5e6 * SECONDS, rel=0.01)
    assert disk["waited_s"] > 1.8 * SECONDS
    assert run_plan(plan).fingerprint == record.fingerprint


def test_a_disk_reads_ahead_and_writes_back_and_then_makes_its_program_wait(
    run_plan: RunPlan,
) -> None:
    plan = plan_of("reno", "disk:20MB/s,readahead=2MB", "disk:5MB/s,writeback=10MB")
    record = run_plan(plan)
    mbps = (per_second(record.samples, plan.schedule)["flow1"] / 1e6).tolist()
    print(f"{mbps} Mbit/s, {disk_counts(record)}")
    # Of 11.9 MB/s that come, 6.9 fill the write-back in 1.4 s
    assert mbps[0] > 70
    assert mbps[-2] == pytest.approx(40, abs=8 * BLOCK_BYTES / 1e6)
    source, sink = disk_counts(record)["sender"], disk_counts(record)["receiver"]
    # At each moment the disk read, or had read ahead as far as it may
    spent_s = source["moved_bytes"] / 20e6 + source["idle_s"]
    assert SECONDS - 0.3 < spent_s < SECONDS
    assert source["idle_s"] > 2
    written = 10e6 + 5e6 * SECONDS
    assert sink["moved_bytes"] == pytest.approx(written, rel=0.03)
    assert sink["moved_bytes"] < written + BLOCK_BYTES
    assert record.data["readback"]["before"]["disks"]["receiver"] == {
        "rate_bps": 40_000_000, "cache_bytes": 10_000_000, "written": True,
        "moved_bytes": 0, "waited_s": 0.0, "idle_s": 0.0,
    }  # fmt: skip
