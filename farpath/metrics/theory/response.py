"""Response functions: the mean window of a stack on a path that loses packets at random.

Windows are in packets, ``loss`` is the probability that a packet is lost. Published formulas assume
losses at equal distances. On a path losses are random, and a loss is known one round trip later.
``mean_window`` predicts that from a stack's own rule (``farpath.metrics.theory.window_rules``).
"""

from __future__ import annotations

import copy
import math
import random
from typing import Protocol

#: After this many losses a flow has forgotten its start: Scalable, the slowest, comes from four
#: times its mean window to the mean in eleven (ln 4 / ln 8/7).
WARM_UP_LOSSES = 12
#: A mean is taken over this many losses; it is within half a per cent of the limit.
LOSSES = 20_000


class Rule(Protocol):
    """How a stack's window grows and how much a loss takes; a rule may remember earlier losses."""

    def increase(self, window: float, rtts: float) -> float:
        """Return packets gained in an RTT that begins ``rtts`` after the last loss was known."""
        ...

    def decrease(self, window: float) -> float:
        """Return the fraction of the window that a loss takes."""
        ...


def _until_loss(loss: float, rng: random.Random) -> float:
    """Draw the number of packets up to and including the next one lost."""
    return math.log(1 - rng.random()) / math.log(1 - loss) + 1


def _recovery_rtts(window: float, loss: float, rng: random.Random) -> float:
    """Return how many RTTs recovery lasts, once the first loss of a window is known.

    It lasts one RTT if nothing else is lost. Another loss among the ``window`` packets that were
    sent until then is known later, by the time that it was sent later, and so is the ACK of its
    retransmission.
    """
    last, position = 0.0, _until_loss(loss, rng)
    while position < window:
        last, position = position, position + _until_loss(loss, rng)
    return 1 + last / window


def _loss_epoch(rule: Rule, window: float, loss: float, rng: random.Random) -> tuple[float, ...]:
    """Return packets, RTTs and final window from the start of one recovery to the next.

    ``window`` is the window at the loss.
    """
    recovery_rtts = _recovery_rtts(window, loss, rng)
    window = max(2.0, window * (1 - rule.decrease(window)))
    # The window does not grow in recovery. A packet that is lost during it is known to be
    # lost one RTT after it was sent.
    packets, rtts = window * recovery_rtts, recovery_rtts
    until_loss = _until_loss(loss, rng)
    remaining = until_loss - packets
    while remaining > window:
        remaining -= window
        packets += window
        window += rule.increase(window, rtts)
        rtts += 1
    if remaining > 0:
        packets += remaining
        window += rule.increase(window, rtts) * remaining / window
        rtts += remaining / window
    # When the loss is known, the packets sent in this RTT are on their way too
    fraction = min(1.0, until_loss / window)
    packets += window * fraction
    window_then = window + rule.increase(window, rtts) * fraction
    return packets, rtts + fraction, window_then


def _simulate(rule: Rule, loss: float, losses: int, seed: int) -> tuple[float, float]:
    """Return the mean window over that many random losses, and the losses per packet."""
    rng = random.Random(seed)
    rule = copy.copy(rule)
    window = 1 / math.sqrt(loss)
    packets = rtts = 0.0
    for number in range(losses + WARM_UP_LOSSES):
        sent, epoch_rtts, window = _loss_epoch(rule, window, loss, rng)
        if number >= WARM_UP_LOSSES:
            packets, rtts = packets + sent, rtts + epoch_rtts
    return packets / rtts, losses / packets


def mean_window(rule: Rule, loss: float) -> float:
    """Return the mean window of a flow that follows ``rule``, over 20,000 random losses.

    Losses of one window count as one loss (RFC 6675): those within the RTT until the first of them
    is known reduce the window no further. For Reno this gives 1.31 / sqrt(p), as Ott, Kemperman and
    Mathis found for random losses (1996), against the 1.22 of losses at equal distances.
    """
    return _simulate(rule, loss, LOSSES, seed=1)[0]


def standard_error(rule: Rule, loss: float, losses: int) -> float:
    """Return the relative standard error of a mean window over a few losses.

    The deviation is from the prediction for the flow's own loss rate. It is one standard deviation
    over forty flows that follow ``rule``.
    """
    slope = math.log(mean_window(rule, 1.25 * loss) / mean_window(rule, loss / 1.25))
    slope /= 2 * math.log(1.25)
    long_mean, long_loss = _simulate(rule, loss, LOSSES, seed=1)
    flows = [_simulate(rule, loss, losses, seed) for seed in range(2, 42)]
    errors = [window / long_mean / (rate / long_loss) ** slope - 1 for window, rate in flows]
    return math.sqrt(sum(error**2 for error in errors) / len(errors))
