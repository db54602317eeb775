"""Scalable TCP as published in 2003: Kelly, CCR 33(2)."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import mean

import pytest

from farpath.analysis.theory import window_rules
from farpath.analysis.theory.response import mean_window

from ..conftest import RunPlan
from . import responses, traces

#: Losses to run through at each loss rate.
LOSSES = {1e-2: 400, 1e-3: 300, 1e-4: 150, 1e-5: 40}
#: At 1e-2 the window stays about the 16 packets below which Scalable is Reno. There
#: one packet decides whether a loss takes a half or an eighth, and the prediction
#: counts in parts of packets; counted ACK by ACK it is 7 % lower.
MODEL_ERROR = {1e-2: 0.12}


@pytest.mark.parametrize("loss", LOSSES)
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
    back = [
        (later.since_s - epoch.since_s) / mean(epoch.rtt_s)
        for epoch, later in pairwise(epochs[1:])
        if epoch.losses(7 / 8) == 1 and abs(later.before - epoch.before) < 5
    ]
    predicted = math.log(8 / 7) / math.log(1.01) * packets_per_ack
    print(f"RTTs from loss to loss: {[round(rtts, 1) for rtts in back]} / {predicted:.1f} + 1")
    assert growing
    assert growth == pytest.approx([1 / packets_per_ack] * len(growth), rel=0.05)
    assert 1 in losses
    assert kept_fraction == pytest.approx([(7 / 8) ** number for number in losses], abs=0.03)
    assert mean(back) == pytest.approx(predicted + 1, abs=1)
