"""CUBIC's formulas beside RFC 9438's own numbers."""

from __future__ import annotations

import pytest

from farpath.metrics.theory import cubic


@pytest.mark.parametrize(
    ("loss", "rtt_s", "published_packets"),
    [
        # RFC 9438, tables 1 and 2, C of 0.4, where the cubic region is
        (1e-4, 0.1, 187),
        (1e-5, 0.1, 1054),
        (1e-6, 0.1, 5926),
        (1e-8, 0.1, 187400),
        (1e-7, 0.01, 5926),
        (1e-8, 0.01, 33325),
    ],
)
def test_the_mean_window_is_that_of_the_rfcs_tables(
    loss: float, rtt_s: float, published_packets: float
) -> None:
    # The tables have 1.054 for the constant, four digits
    mean = cubic.mean_window_packets(loss, rtt_s)
    assert mean == pytest.approx(published_packets, rel=5e-3)


def test_the_window_comes_back_to_w_max_after_k_concave_and_then_convex() -> None:
    k_s = cubic.k_s(1000, 700)
    before, at, after = (cubic.window_packets(k_s + offset_s, 1000, 700) for offset_s in (-1, 0, 1))
    assert at == pytest.approx(1000)
    assert at - before == pytest.approx(after - at) == pytest.approx(cubic.C)
    assert cubic.window_packets(0, 1000, 700) == pytest.approx(700)
