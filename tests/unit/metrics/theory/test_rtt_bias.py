"""Two flows of unlike RTTs that lose together, step by step."""

from __future__ import annotations

import pytest

from farpath.metrics.theory.rtt_bias import synchronised_ratio


@pytest.mark.parametrize("other_rtt_ms", [20.0, 40.0, 100.0])
def test_the_ratio_is_that_of_two_windows_that_are_halved_together(other_rtt_ms: float) -> None:
    rtts_ms = (20.0, other_rtt_ms)
    windows, sent = [100.0, 100.0], [0.0, 0.0]
    for step in range(200_000):
        for flow, rtt_ms in enumerate(rtts_ms):
            windows[flow] += 1 / rtt_ms
            sent[flow] += windows[flow] / rtt_ms * (step > 100_000)
        if windows[0] / rtts_ms[0] + windows[1] / rtts_ms[1] > 10:
            windows = [window / 2 for window in windows]
    assert synchronised_ratio(*rtts_ms) == pytest.approx(sent[0] / sent[1], rel=0.03)
