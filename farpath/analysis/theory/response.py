"""Response functions: the mean window of a stack on a path that loses packets at random.

Windows are in packets, ``loss`` is the probability that a packet is lost. Published
formulas take losses at equal distances; a path's are random, and a loss is known one
round trip later. :func:`mean_window` predicts that from a stack's own rule
(:mod:`farpath.analysis.theory.window_rules`).
"""

from __future__ import annotations

import copy
import math
import random
from typing import Protocol

#: Losses after which a flow has forgotten how it began: Scalable, the slowest,
#: comes from four times its mean window to it in eleven (ln 4 / ln 8/7).
WARM_UP_LOSSES = 12
#: Of so many a mean is taken: it is within half a per cent of that of any number.
LOSSES = 20_000


class Rule(Protocol):
    """How a stack's window grows and what a loss takes; may remember earlier losses."""

    def increase(self, window: float, rtts: float) -> float:
        """Packets gained in an RTT that begins ``rtts`` after the last loss was known."""
        ...

    def decrease(self, window: float) -> float:
        """The part of the window that a loss takes."""
        ...


def _until_loss(loss: float, rng: random.Random) -> float:
    """Packets up to and including the next one lost."""
    return math.log(1 - rng.random()) / math.log(1 - loss) + 1


def _recovery_rtts(window: float, loss: float, rng: random.Random) -> float:
    """How long the recovery of a window lasts, once its first loss is known.

    One RTT; a loss among the ``window`` packets that were sent until then is known,
    and its retransmission acknowledged, so much later as it was sent later.
    """
    last, position = 0.0, _until_loss(loss, rng)
    while position < window:
        last, position = position, position + _until_loss(loss, rng)
    return 1 + last / window


def _flight(rule: Rule, window: float, loss: float, rng: random.Random) -> tuple[float, ...]:
    """From the start of one recovery to that of the next: packets, RTTs, window then.

    ``window`` is the one at the loss.
    """
    recovery_rtts = _recovery_rtts(window, loss, rng)
    window = max(2.0, window * (1 - rule.decrease(window)))
    # The window does not grow in recovery. What is lost in it is found an RTT after
    # it was sent.
    packets, rtts = window * recovery_rtts, recovery_rtts
    until_loss = _until_loss(loss, rng)
    left = until_loss - packets
    while left > window:
        left -= window
        packets += window
        window += rule.increase(window, rtts)
        rtts += 1
    if left > 0:
        packets += left
        window += rule.increase(window, rtts) * left / window
        rtts += left / window
    # The loss is known when the packets sent in this RTT are on their way too
    part = min(1.0, until_loss / window)
    packets += window * part
    window_then = window + rule.increase(window, rtts) * part
    return packets, rtts + part, window_then


def _play(rule: Rule, loss: float, losses: int, seed: int) -> tuple[float, float]:
    """Mean window of a flow through so many random losses, and losses per packet then."""
    rng = random.Random(seed)
    rule = copy.copy(rule)
    window = 1 / math.sqrt(loss)
    packets = rtts = 0.0
    for number in range(losses + WARM_UP_LOSSES):
        sent, taken, window = _flight(rule, window, loss, rng)
        if number >= WARM_UP_LOSSES:
            packets, rtts = packets + sent, rtts + taken
    return packets / rtts, losses / packets


def mean_window(rule: Rule, loss: float) -> float:
    """Packets per RTT of a flow that follows ``rule``, over 20,000 random losses.

    Losses of one window are one loss (RFC 6675): those within the RTT until the
    first of them is known cost nothing more. For Reno this gives 1.31 / sqrt(p), as
    Ott, Kemperman and Mathis found for random losses (1996), against the 1.22 of
    losses at equal distances.
    """
    return _play(rule, loss, LOSSES, seed=1)[0]


def standard_error(rule: Rule, loss: float, losses: int) -> float:
    """How far a flow's mean over so few losses lies from what its own loss rate predicts.

    Relative, one standard deviation over forty flows that follow ``rule``.
    """
    slope = math.log(mean_window(rule, 1.25 * loss) / mean_window(rule, loss / 1.25))
    slope /= 2 * math.log(1.25)
    whole, its_loss = _play(rule, loss, LOSSES, seed=1)
    flows = [_play(rule, loss, losses, seed) for seed in range(2, 42)]
    errors = [window / whole / (rate / its_loss) ** slope - 1 for window, rate in flows]
    return math.sqrt(sum(error**2 for error in errors) / len(errors))
