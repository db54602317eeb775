"""Reno, counted per ACK as in 2004 and per packet as today."""

from __future__ import annotations

import pytest

from farpath.metrics.theory import window_rules
from farpath.metrics.theory.window_rules import DelayedAcks

from ..conftest import RunPlan
from . import responses, traces

#: Losses to run through at each loss rate: 4 million packets at the least of them, to which one
#: of the three goes: the law is the same at each, with another factor.
LOSSES = {1e-2: 400, 1e-3: 300, 1e-4: 100, 1e-5: 40}
OFTEN = [loss for loss in LOSSES if loss > 1e-5]
#: In a window of a dozen packets the odd one's delayed ACK is late so often that TCP's RTT is
#: 7 % above the path's, and a window as throughput times RTT too large: by 4.3 % over eight
#: seeds, 3.2 to 5.5 %, where the mean of cwnd itself is within 1 % of the law.
SMALL_WINDOW_ERROR = 0.06


@pytest.mark.parametrize("loss", responses.nightly_below(1e-4, LOSSES))
def test_reno_2004_has_the_published_window_when_each_packet_is_acknowledged(
    run_plan: RunPlan, loss: float
) -> None:
    published = window_rules.reno_window(loss)
    measured = responses.measure(
        run_plan, "reno_2004", loss, published, LOSSES[loss], delayed_ack=False
    )
    responses.assert_follows(measured, window_rules.reno(), published)


@pytest.mark.parametrize("loss", OFTEN)
def test_reno_2004_grows_half_as_fast_with_delayed_acks(run_plan: RunPlan, loss: float) -> None:
    published = window_rules.reno_window(loss, packets_per_ack=2)
    measured = responses.measure(run_plan, "reno_2004", loss, published, LOSSES[loss])
    responses.assert_follows(measured, DelayedAcks(window_rules.reno()), published)


@pytest.mark.parametrize("loss", OFTEN)
def test_todays_reno_has_the_published_window_with_delayed_acks_too(
    run_plan: RunPlan, loss: float
) -> None:
    published = window_rules.reno_window(loss)
    measured = responses.measure(run_plan, "reno", loss, published, LOSSES[loss])
    error = SMALL_WINDOW_ERROR if loss == 1e-2 else responses.MODEL_ERROR
    responses.assert_follows(measured, window_rules.todays_reno(), published, error)


@pytest.mark.parametrize("packets_per_ack", [1, 2])
def test_reno_2004_halves_and_recovers_in_the_classic_time(
    run_plan: RunPlan, packets_per_ack: int
) -> None:
    # A flow alone on a path of C = 400 packets per RTT and a buffer of 20: it loses
    # when its window is W = 420, goes on with W / 2, and needs W / 2 RTTs to come
    # back: C RTT^2 / (2 MSS), twice that if every second packet is acknowledged.
    # Tolerance: one RTT in 210 is recovery, a packet takes W + 1 ACKs, samples come
    # once per RTT.
    rtt_s, packets, buffer_packets = 0.1, 400, 20
    path = traces.narrow_path(rtt_s, packets, buffer_packets)
    predicted_s = (packets + buffer_packets) / 2 * rtt_s * packets_per_ack
    _, second, third = traces.epochs(
        run_plan, "reno_2004", 75.0 * packets_per_ack, path, delayed_ack=packets_per_ack == 2
    )
    measured_s = third.since_s - second.since_s
    kept_fraction = second.window[0] / second.before
    print(f"recovery: measured {measured_s:.1f} s / predicted {predicted_s:.1f} s")
    print(f"window after / before the loss: {kept_fraction:.3f} / 0.5")
    assert second.before == pytest.approx(packets + buffer_packets, abs=3)
    assert measured_s == pytest.approx(predicted_s, rel=0.03)
    assert kept_fraction == pytest.approx(0.5, abs=0.01)
