"""Scalable TCP as published in 2003: Kelly, CCR 33(2)."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import mean

import pytest

from farpath.metrics.theory import window_rules
from farpath.metrics.theory.response import mean_window

from ..conftest import RunPlan
from . import responses, traces

#: Losses to run through at each loss rate.
LOSSES = {1e-2: 400, 1e-3: 300, 1e-4: 150, 1e-5: 40}
#: At 1e-2 the window stays about the 16 packets below which Scalable is Reno. There
#: one packet decides whether a loss takes a half or an eighth, and the prediction
#: counts in parts of packets; counted ACK by ACK it is 7 % lower.
MODEL_ERROR = {1e-2: 0.12}


@pytest.mark.parametrize("loss", responses.nightly_below(1e-4, LOSSES))
def test_scalable_2004_has_the_published_window(run_plan: RunPlan, loss: float) -> None:
    rule = window_rules.scalable()
    measured = responses.measure(
        run_plan,
        "scalable_2004",
        loss,
        mean_window(rule, loss),
        LOSSES[loss],
        delayed_ack=False,
    )
    published = window_rules.scalable_window(loss)
    error = MODEL_ERROR.get(loss, responses.MODEL_ERROR)
    responses.assert_follows(measured, rule, published, error)


@pytest.mark.parametrize("packets_per_ack", [1, 2])
def test_scalable_2004_grows_by_a_hundredth_of_the_acks_and_loses_an_eighth(
    run_plan: RunPlan, packets_per_ack: int
) -> None:
    # Tolerances: growth of 40 packets or more, seen to a packet at either end; a window
    # is seen up to two RTTs, 2 %, after its loss, and two losses give back a packet
    # each; recovery is one RTT in which nothing grows, and samples come once per RTT.
    path = traces.narrow_path(0.1, 400, 20)
    epochs = traces.epochs(
        run_plan, "scalable_2004", 45.0 * packets_per_ack, path, delayed_ack=packets_per_ack == 2
    )
    growing = [epoch for epoch in epochs[1:] if epoch.window[-1] - epoch.window[0] >= 40]
    growth = [(epoch.growth_per_rtt - 1) * 100 for epoch in growing]
    print("growth, % per RTT:", [f"{part:.3f}" for part in growth], "/", 1 / packets_per_ack)
    kept_fraction = [epoch.window[0] / epoch.before for epoch in epochs[1:]]
    losses = [epoch.losses(7 / 8) for epoch in epochs[1:]]
    print("window after / before:", [f"{part:.3f}" for part in kept_fraction], "losses:", losses)
    # From the window after a loss to that before the next, and one RTT of recovery
    pairs = [pair for pair in pairwise(epochs[1:]) if pair[0].losses(7 / 8) == 1]
    back = [(later.since_s - epoch.since_s) / mean(epoch.rtt_s) for epoch, later in pairs]
    predicted = [
        math.log(later.before / epoch.window[0]) / math.log(1.01) * packets_per_ack + 1
        for epoch, later in pairs
    ]
    print(
        "RTTs from loss to loss:",
        *(f"{a:.1f} / {b:.1f}" for a, b in zip(back, predicted, strict=True)),
    )
    assert growing
    assert growth == pytest.approx([1 / packets_per_ack] * len(growth), rel=0.05)
    assert 1 in losses
    assert kept_fraction == pytest.approx([(7 / 8) ** number for number in losses], abs=0.03)
    # Seen up to two RTTs after the loss, as above
    assert mean(predicted) <= mean(back) <= mean(predicted) + 2
