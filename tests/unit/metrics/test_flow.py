"""What a flow carries."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from farpath.metrics import flow as flow_metrics
from farpath.planning.request import RunRequest
from farpath.record.record import Record


def test_what_a_path_carries_of_payload_is_less_over_ipv6() -> None:
    over = {
        ip: flow_metrics.goodput_bps(RunRequest(rtt="50ms", rate="80Mbit", ip=ip).plan()) / 80e6
        for ip in ("4", "6")
    }
    # Beside Ethernet's 14 bytes TCP's 32 with timestamps, and IP's 20 or 40
    assert over["4"] == pytest.approx((1514 - 14 - 32 - 20) / 1514)
    assert over["6"] == pytest.approx((1514 - 14 - 32 - 40) / 1514)


def test_what_a_path_carries_follows_its_rate() -> None:
    plan = RunRequest(rtt="50ms", rate="80Mbit,15s:20Mbit", time="20s").plan()
    payload = 1448 / 1514
    assert flow_metrics.goodput_bps(plan) == pytest.approx(65e6 * payload)
    assert flow_metrics.goodput_bps(plan, from_s=10.0) == pytest.approx(50e6 * payload)
    assert flow_metrics.goodput_bps(plan, from_s=16.0) == pytest.approx(20e6 * payload)


def test_what_a_flow_carries_is_counted_by_whole_seconds(record: Record) -> None:
    # A flow's last row may be of a millisecond, and of any throughput
    flow1 = record.plan.schedule.flows[0].name
    whole_s = record.plan.schedule.duration_s
    rows = record.samples.flows
    last = (
        rows[rows["flow"] == flow1]
        .iloc[[-1]]
        .assign(t_s=lambda row: row["t_s"] + 0.001, interval_s=0.001, throughput_bps=1e12)
    )
    samples = dataclasses.replace(record.samples, flows=pd.concat([rows, last]))
    longer = Record(record.directory, record.data)
    vars(longer)["samples"] = samples
    plain, with_last = flow_metrics.mean_bps(record, flow1), flow_metrics.mean_bps(longer, flow1)
    assert abs(with_last - plain) <= 1e9 / (0.75 * whole_s) * 1.01
