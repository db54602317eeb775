"""Reno, counted per ACK as in 2004 and per packet as today."""

from __future__ import annotations

import pytest

from ..conftest import RunPlan
from . import responses

#: Losses to run through at each loss rate: 4 million packets at the least of them.
LOSSES = {1e-2: 400, 1e-3: 300, 1e-4: 100, 1e-5: 40}


@pytest.mark.parametrize("loss", LOSSES)
def test_reno_2004_has_the_published_window_when_each_packet_is_acknowledged(
    run_plan: RunPlan, loss: float
) -> None:
    published = responses.reno_window(loss)
    measured = responses.measure(
        run_plan, "reno_2004", loss, published, LOSSES[loss], delayed_ack=False
    )
    responses.assert_follows(measured, responses.reno(), published)


@pytest.mark.parametrize("loss", LOSSES)
def test_reno_2004_grows_half_as_fast_with_delayed_acks(run_plan: RunPlan, loss: float) -> None:
    published = responses.reno_window(loss, packets_per_ack=2)
    measured = responses.measure(run_plan, "reno_2004", loss, published, LOSSES[loss])
    responses.assert_follows(measured, responses.reno(packets_per_ack=2), published)


@pytest.mark.parametrize("loss", LOSSES)
def test_todays_reno_has_the_published_window_with_delayed_acks_too(
    run_plan: RunPlan, loss: float
) -> None:
    published = responses.reno_window(loss)
    measured = responses.measure(run_plan, "reno", loss, published, LOSSES[loss])
    responses.assert_follows(measured, responses.reno(), published)
