"""Shares of flows while all are there."""

from __future__ import annotations

import math

import pytest

from farpath.metrics.share import fair_shares, joint_means_bps
from farpath.record.record import Samples, typed_frame
from farpath.spec.schedule import staggered


def test_a_share_counts_the_time_with_both_flows_without_its_first_quarter() -> None:
    # The first flow alone until 2 s, then both; the quarter of eight seconds ends at 4 s
    rates_mbps = {"flow1": [10] * 2 + [9] * 2 + [6] * 6, "flow2": [0] * 2 + [1] * 2 + [2] * 6}
    rows = [
        (flow, float(second), 1.0, 1e6 * mbps, 0.0, 0, 0, 0, 0)
        for flow, each in rates_mbps.items()
        for second, mbps in enumerate(each, start=1)
        if mbps
    ]
    samples = Samples(typed_frame("flows", rows), typed_frame("ping", []), typed_frame("queue", []))
    means_bps = joint_means_bps(samples, staggered(["reno", "bbr"], 8.0, 2.0))
    assert means_bps == pytest.approx((6e6, 2e6))
    assert fair_shares(means_bps) == pytest.approx((1.5, 0.5))


def test_nothing_has_no_shares() -> None:
    assert all(map(math.isnan, fair_shares((0.0, 0.0))))
