"""Dropping: how many packets a dropper is drawn for."""

from __future__ import annotations

import pytest

from farpath.planning.request import RunRequest
from farpath.spec.dropping import horizon_packets


def test_bursts_are_drawn_for_twice_what_the_bottlenecks_carry() -> None:
    words = {"rtt": "20ms", "rate": "100Mbit", "region": "10s", "schedule": "together"}
    plan = RunRequest(**words).plan()
    assert horizon_packets(plan) == pytest.approx(2 * 1e9 / 8 / 1514, abs=1)
    row = RunRequest(**words, topology="parking-lot:3").plan()
    assert horizon_packets(row) == pytest.approx(3 * horizon_packets(plan), abs=2)
    small = RunRequest(**words, senders="mtu=600").plan()
    assert horizon_packets(small) == pytest.approx(2 * 1e9 / 8 / 614, abs=1)
