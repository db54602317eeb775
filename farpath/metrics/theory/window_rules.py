"""The published rules by which stacks grow and back off, in whole packets as kernels do.

Windows are in packets. The stacks of 2004 count ACKs, here one for each packet; with delayed ACKs
(``DelayedAcks``) there are half as many.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from farpath.metrics.theory.response import Rule

#: RFC 3649, section 5: the windows between which HSTCP's parameters are defined.
LOW_WINDOW, HIGH_WINDOW = 38, 83_000
#: The fraction of the way to a target that one window of ACKs covers, if each ACK moves the window
#: towards a point half as far away.
_HALFWAY = 1 - math.exp(-0.5)


@dataclass(frozen=True)
class StatelessRule:
    """A rule that depends only on the window."""

    gain: Callable[[float], float]
    loss_fraction: Callable[[float], float]

    def increase(self, window: float, rtts: float) -> float:
        """Return the packets gained in an RTT."""
        return self.gain(window)

    def decrease(self, window: float) -> float:
        """Return the fraction of the window that a loss takes."""
        return self.loss_fraction(window)


@dataclass
class DelayedAcks:
    """A rule that counts ACKs, where only every second packet is acknowledged (RFC 1122)."""

    rule: Rule

    def increase(self, window: float, rtts: float) -> float:
        """Return half of the rule's increase."""
        return self.rule.increase(window, rtts) / 2

    def decrease(self, window: float) -> float:
        """Return the rule's decrease."""
        return self.rule.decrease(window)


def decrease_fraction(window_after: Callable[[int], int]) -> Callable[[float], float]:
    """Return the function from a window to the fraction that a loss takes, in whole packets.

    A loss also clears what ACKs had added towards the next packet (tcp_init_cwnd_reduction clears
    snd_cwnd_cnt).
    """
    return lambda window: 1 - window_after(math.floor(window)) / window


def reno() -> StatelessRule:
    """Return RFC 5681, 3.1, as in 2004: one packet per window of ACKs, half of the window.

    Linux 2.6.11 added a packet after cwnd + 1 ACKs. It added another with the first ACK after
    recovery, which found the window at ssthresh and took that for slow start.
    """
    return StatelessRule(lambda w: w / (w + 1), decrease_fraction(lambda w: w // 2 + 1))


def todays_reno() -> StatelessRule:
    """Return RFC 5681, 3.1, as in today's mainline kernel, which counts packets, not ACKs."""
    return StatelessRule(lambda w: 1.0, decrease_fraction(lambda w: w // 2))


def reno_window(loss: float, packets_per_ack: int = 1) -> float:
    """Return Mathis et al., CCR 27(3), 1997, equation 3: sqrt(3 / (2 b p))."""
    return math.sqrt(1.5 / packets_per_ack / loss)


def scalable() -> StatelessRule:
    """Return Kelly, CCR 33(2), 2003: 0.01 per ACK, an eighth; Reno up to 16 packets."""
    slow = reno()
    fast = StatelessRule(lambda w: 0.01 * w, decrease_fraction(lambda w: w - w // 8 + 1))
    return StatelessRule(
        lambda w: (fast if w >= 17 else slow).gain(w),
        lambda w: (fast if w >= 17 else slow).loss_fraction(w),
    )


def scalable_window(loss: float) -> float:
    """Return the mean of the sawtooth from 7/8 W to W, which takes 1/p = W / 8 / 0.01 packets.

    A window that grows by the factor e^(0.01 t) has the mean (W / 8) / ln(8/7).
    """
    return 0.01 / loss / math.log(8 / 7)


def hstcp_window(loss: float) -> float:
    """Return RFC 3649, section 5: 0.12 / p^0.835 above 38 packets, Reno's below."""
    return 0.12 / math.pow(loss, 0.835) if loss < 1e-3 else reno_window(loss)


def hstcp_decrease(window: float) -> float:
    """Return b(w) of RFC 3649, section 5, for the parameters of its appendix B."""
    return 0.5 - 0.4 * math.log(window / LOW_WINDOW) / math.log(HIGH_WINDOW / LOW_WINDOW)


def hstcp_increase(window: float) -> float:
    """Return a(w) as appendix B computes it, with p(w) = 1 / (12.8 w^1.2)."""
    decrease = hstcp_decrease(window)
    return math.pow(window, 0.8) * 2 * decrease / ((2 - decrease) * 12.8)


@cache
def appendix_b() -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return windows and b(w), in hundredths, of the rows of appendix B, by its own procedure.

    Row k, from 0, is the first window at which a(w) is more than one above the row before; a(w)
    there is k + 1.
    """
    windows, decreases, last = [LOW_WINDOW], [0.5], 1.0
    for window in range(LOW_WINDOW, 100_000):
        if hstcp_increase(window) > last + 1:
            last = hstcp_increase(window)
            windows.append(window)
            decreases.append(round(hstcp_decrease(window), 2))
    return tuple(windows), tuple(decreases)


def hstcp_row(window: float) -> int:
    """Return the row of appendix B that applies to a window: the last one not above it."""
    return max(bisect_right(appendix_b()[0], window) - 1, 0)


def hstcp() -> StatelessRule:
    """Return appendix B in whole rows and whole packets.

    A decrease is cut to whole packets, and the first ACK after it adds one: slow start goes up to
    and including ssthresh, as in Linux 2.6.11. Both matter in small windows.
    """

    def left(window: int) -> int:
        return max(window - int(window * appendix_b()[1][hstcp_row(window)]), 2) + 1

    return StatelessRule(lambda w: hstcp_row(w) + 1.0, decrease_fraction(left))


def ltcp_thresholds(variant: int, threshold: int = 50) -> list[float]:
    """Return W_K for K = 1, 2, ...: table 1 of draft-bhandarkar-ltcp-00 (0) and -01 (1)."""
    if variant:
        return [layers * (layers**2 - 1) / 6 * threshold for layers in range(1, 40)]
    steps = [threshold * (5 / 3) ** number for number in range(39)]
    return [sum(steps[:number]) for number in range(39)]


def ltcp(variant: int = 1) -> StatelessRule:
    """Return LTCP: K packets per RTT in layer K; a loss takes 20 % or 15 %, half at K = 1.

    draft-bhandarkar-ltcp-00, 4.2, and -01, 4.2. A loss takes at most one layer, which makes no
    difference while beta < 3 / (K + 1).
    """
    thresholds = ltcp_thresholds(variant)
    percent = 15 if variant else 20
    slow = reno()
    layered = StatelessRule(
        lambda w: float(sum(w >= threshold_window for threshold_window in thresholds)),
        decrease_fraction(lambda w: w - w * percent // 100 + 1),
    )
    return StatelessRule(
        lambda w: (layered if w >= thresholds[1] else slow).gain(w),
        lambda w: (layered if w >= thresholds[1] else slow).loss_fraction(w),
    )


def ltcp_window(loss: float, variant: int = 1) -> float:
    """Return sqrt(C K / p) with the K of that window: -00, 4.2, and -01, 4.2.4.

    C is (3 alpha + 1) / 2 (alpha - 1), and 1 / beta - 1/2: 4.5 and 6.17.
    """
    constant = 1 / 0.15 - 0.5 if variant else 4.5
    layers = 1
    while math.sqrt(constant * layers / loss) >= ltcp_thresholds(variant)[layers]:
        layers += 1
    return math.sqrt(constant * layers / loss)


@dataclass
class Htcp:
    """PFLDnet 2004's H-TCP on a path with an empty queue.

    alpha = 2 (1 - beta) (1 + 10 D + (D / 2)^2), where D is the seconds since a loss beyond the
    first second. RTTmin is RTTmax there, so that beta is 0.8. Beta is 0.5 if the throughput before
    this loss is not within a fifth of that before the last (images/kernel/stacks has the sources).
    """

    rtt_s: float
    beta: float = 0.5
    before: float = 0.0

    def increase(self, window: float, rtts: float) -> float:
        """Return alpha at the time in the middle of the RTT."""
        beyond_s = max(0.0, (rtts + 0.5) * self.rtt_s - 1.0)
        alpha = 2 * (1 - self.beta) * (1 + 10 * beyond_s + beyond_s**2 / 4)
        # At most one packet per ACK
        return min(alpha, window)

    def decrease(self, window: float) -> float:
        """Return half, or a fifth where the throughput is steady."""
        steady = abs(window - self.before) <= 0.2 * self.before
        self.beta = 0.8 if steady else 0.5
        self.before = window
        return 1 - (math.floor(window * self.beta) + 1) / window


@dataclass
class Bic:
    """BIC: Xu, Harfoush, Rhee, INFOCOM 2004, with its constants; Reno up to 14 packets.

    ``maximum``: the window that the search approaches. ``probe``: the step beyond it. ``target``:
    the window at which that step doubles (images/kernel/stacks has the sources).
    """

    smax: float = 32.0
    smin: float = 0.01
    beta: float = 0.125
    low_window: float = 14.0
    maximum: float = 0.0
    probe: float = 0.0
    target: float = 0.0

    def increase(self, window: float, rtts: float) -> float:
        """Return the step towards the middle of window and maximum, at most Smax.

        Beyond the maximum it is 1, 2, 4, ... packets.
        """
        if window <= self.low_window:
            return 1.0
        if not self.maximum:
            return self.smax
        distance = self.maximum - window
        if distance <= 0:
            return self._probed(window)
        return self.smax if distance / 2 > self.smax else max(distance * _HALFWAY, self.smin)

    def _probed(self, window: float) -> float:
        if not self.probe:
            self.probe, self.target = 1.0, window + 1
        elif window >= self.target:
            self.probe = min(2 * self.probe, self.smax)
            self.target = window + self.probe
        return self.probe

    def decrease(self, window: float) -> float:
        """Return an eighth; fast convergence lowers a maximum below the last one further."""
        whole_window = math.floor(window)
        reduction = math.floor(whole_window * self.beta)
        self.maximum = whole_window - reduction / 2 if whole_window < self.maximum else whole_window
        self.probe = 0.0
        remaining = (
            whole_window // 2 if whole_window <= self.low_window else whole_window - reduction
        )
        return 1 - (remaining + 1) / window
