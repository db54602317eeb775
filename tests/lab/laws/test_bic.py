"""BIC as published: Xu, Harfoush, Rhee, INFOCOM 2004."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import mean

import pytest

from ..conftest import RunPlan
from . import traces
from .traces import Epoch

SMAX = 32
KEPT_FRACTION = 0.875
RTT_S = 0.2
#: Samples in an RTT.
STEP = round(RTT_S / traces.SAMPLE_S)


def maximum_of(epoch: Epoch) -> int:
    """The window that the search approached: where it stayed longest."""
    return max(set(epoch.window), key=epoch.window.count)


def step_towards(maximum: float, window: float) -> float:
    """Packets that an RTT adds below the maximum.

    The midpoint is half of the distance away, and moves with every ACK, so a window
    of ACKs leaves e^(-1/2) of the distance; Smax per window of ACKs otherwise.
    """
    distance = maximum - window
    return SMAX if distance / 2 > SMAX else distance * (1 - math.exp(-0.5))


@pytest.fixture(scope="module")
def epochs(run_once: RunPlan) -> list[Epoch]:
    """A flow alone: its path holds 2000 packets, and 200 in the buffer."""
    path = traces.narrow_path(RTT_S, 2000, 200)
    return traces.epochs(run_once, "bic_2004", 32.0, path, delayed_ack=False)


def test_bic_2004_searches_between_loss_and_maximum_and_then_beyond(epochs: list[Epoch]) -> None:
    whole = [epoch for epoch in epochs[1:] if len(epoch.window) > 40]
    assert whole
    for epoch in whole:
        windows = epoch.window[::STEP]
        steps = [later - window for window, later in pairwise(windows)]
        maximum = maximum_of(epoch)
        search = [
            (step, step_towards(maximum, window))
            for window, step in zip(windows, steps, strict=False)
            if maximum - window > 4
        ]
        print(f"maximum {maximum}; step / predicted:", [f"{s}/{p:.0f}" for s, p in search])
        # Whole packets; an RTT in which the rule changes from Smax to the midpoint. In the first
        # one the window may return from a recovery of many losses to what it left.
        for step, predicted in search[1:]:
            assert step == pytest.approx(predicted, rel=0.15, abs=2)
        beyond = [s for w, s in zip(windows, steps, strict=False) if w >= maximum]
        second = next(number for number, step in enumerate(beyond) if step > 1)
        probing = beyond[second - 1 : second + 6]
        print("max probing:", probing, "/ each twice the one before, up to 32")
        # Samples cut the doubling steps anywhere, in whole packets: of two neighbours one has
        # what the other lacks, so all are held against one doubling sequence
        start = mean(step / 2**times for times, step in enumerate(probing) if step < SMAX)
        for times, step in enumerate(probing):
            assert step == pytest.approx(min(start * 2**times, SMAX), rel=0.15, abs=1)
        assert probing[-1] == pytest.approx(SMAX, abs=2)
        assert max(steps[1:]) <= SMAX


def test_bic_2004_keeps_seven_eighths_and_aims_lower_after_a_loss_below_the_maximum(
    epochs: list[Epoch],
) -> None:
    # Tolerance: up to two RTTs of Smax between a loss and the samples beside it.
    for epoch in epochs[1:]:
        tolerance = 2 * SMAX / epoch.before
        kept_fraction, losses = epoch.window[0] / epoch.before, epoch.losses(KEPT_FRACTION)
        print(f"{epoch.before} -> {epoch.window[0]}: {kept_fraction:.3f} / 0.875 ^ {losses}")
        assert kept_fraction == pytest.approx(KEPT_FRACTION**losses, abs=tolerance)
    again = [
        (epoch, later)
        for epoch, later in pairwise(epochs[1:])
        if len(epoch.window) < STEP + 1 and len(later.window) > 40
    ]
    # Fast convergence: the midpoint of 1 and 0.875 of the window at the second loss
    for _, later in again:
        print(f"maximum {maximum_of(later)} / {later.before * (1 + KEPT_FRACTION) / 2:.0f}")
        assert maximum_of(later) == pytest.approx(later.before * (1 + KEPT_FRACTION) / 2, abs=SMAX)
    assert again
