"""Reno's recovery by the formula."""

from __future__ import annotations

import pytest

from farpath.metrics.theory import recovery


@pytest.mark.parametrize(
    ("gbps", "rtt_ms", "mtu_bytes", "published_s"),
    [(1, 180, 1500, 1380), (1, 300, 1500, 3840), (10, 180, 1500, 13860), (10, 180, 9000, 2280)],
)
def test_renos_recovery_is_that_of_the_published_table(
    gbps: float, rtt_ms: float, mtu_bytes: int, published_s: float
) -> None:
    found_s = recovery.reno_s(gbps * 1e9, rtt_ms / 1e3, mtu_bytes - 40)
    assert found_s == pytest.approx(published_s, rel=0.015)
