"""LTCP in both published forms: draft-bhandarkar-ltcp-00 (0) and -01 (1)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from farpath.metrics.theory import window_rules
from farpath.metrics.theory.response import mean_window

from ..conftest import RunPlan
from . import responses, traces

#: Losses to run through at each loss rate.
LOSSES = {1e-2: 400, 1e-3: 300, 1e-4: 100}
#: What a loss leaves: -00, 4.2, with alpha = 1.66667; -01, 4.3.
KEPT_FRACTION = {0: 0.8, 1: 0.85}


@pytest.mark.parametrize(("variant", "loss"), [(1, 1e-2), (1, 1e-3), (1, 1e-4), (0, 1e-4)])
def test_ltcp_has_the_published_window(run_plan: RunPlan, variant: int, loss: float) -> None:
    rule = window_rules.ltcp(variant)
    measured = responses.measure(
        run_plan,
        f"ltcp:variant={variant}",
        loss,
        mean_window(rule, loss),
        LOSSES[loss],
        delayed_ack=False,
    )
    responses.assert_follows(measured, rule, window_rules.ltcp_window(loss, variant))


@pytest.mark.parametrize("variant", KEPT_FRACTION)
def test_ltcp_gains_a_packet_per_layer_in_an_rtt(run_plan: RunPlan, variant: int) -> None:
    # A flow that leaves slow start at a tenth of the path grows through every layer
    # above. Tolerance: 3 %; K per window of ACKs is K (1 - K / 2W) per RTT, and a
    # layer's first and last RTT are not whole.
    path = traces.narrow_path(0.1, 2500, 100)
    epochs = traces.epochs(run_plan, f"ltcp:variant={variant}", 75.0, path, delayed_ack=False)
    slopes = {}
    thresholds = window_rules.ltcp_thresholds(variant)
    for layers, (low, high) in enumerate(pairwise(thresholds[:8]), start=1):
        slope = epochs[0].slope(low, high)
        if slope is not None:
            slopes[layers] = slope
            print(f"W_K {low:.1f} to {high:.1f}: {slope:.2f} packets per RTT / K = {layers}")
    assert set(slopes) >= {3, 4, 5, 6}
    assert list(slopes.values()) == pytest.approx(list(slopes), rel=0.03)
    kept_fraction = [epoch.window[0] / epoch.before for epoch in epochs[1:]]
    losses = [epoch.losses(KEPT_FRACTION[variant]) for epoch in epochs[1:]]
    print("window after / before:", [f"{part:.3f}" for part in kept_fraction], "losses:", losses)
    assert 1 in losses
    assert kept_fraction == pytest.approx(
        [KEPT_FRACTION[variant] ** number for number in losses], abs=0.01
    )


def test_ltcp_goes_one_layer_down_at_most(run_plan: RunPlan) -> None:
    # W_T = 5 and beta = 49 %, far above the 3 / (K + 1) for which one layer down is
    # what the window has anyway: a loss between W_10 = 825 and W_11 = 1100 leaves
    # about 530 packets, which alone would have 8 layers (W_8 = 420, W_9 = 600).
    thresholds = window_rules.ltcp_thresholds(1, threshold=5)
    path = traces.narrow_path(0.1, 990, 40)
    stack = "ltcp:variant=1,window_threshold=5,beta_percent=49"
    epochs = traces.epochs(run_plan, stack, 45.0, path, delayed_ack=False)
    measured, predicted = [], []
    for epoch in epochs[1:]:
        slope = epoch.slope(epoch.window[0], thresholds[8])
        if slope is None or epoch.losses(0.51) != 1:
            continue
        layers = sum(epoch.before >= least for least in thresholds)
        alone = sum(epoch.window[0] >= least for least in thresholds)
        print(
            f"{epoch.before} -> {epoch.window[0]} packets: {slope:.2f} per RTT / {layers - 1} "
            f"layers; the window alone would have {alone}"
        )
        assert alone < layers - 1
        measured.append(slope)
        predicted.append(layers - 1)
    assert len(measured) >= 3
    assert measured == pytest.approx(predicted, abs=0.3)
