"""CUBIC's window between two losses, and its mean window (RFC 9438)."""

from __future__ import annotations

import math

#: RFC 9438, 5.1: C in packets per s^3, and 4.6: the fraction of the window that a loss leaves.
C, BETA = 0.4, 0.7
#: RFC 9438, 4.7: the fraction of a smaller window that W_max is set to, (1 + beta) / 2.
FAST_CONVERGENCE = (1 + BETA) / 2


def k_s(w_max_packets: float, epoch_packets: float) -> float:
    """Return K, the time from the window ``epoch_packets`` to W_max (RFC 9438, 4.2, figure 2).

    >>> round(k_s(1000, 700), 2)
    9.09
    """
    return math.cbrt((w_max_packets - epoch_packets) / C)


def window_packets(t_s: float, w_max_packets: float, epoch_packets: float) -> float:
    """Return W_cubic at a time after the epoch's start (RFC 9438, 4.2, figure 1).

    >>> round(window_packets(0, 1000, 700)), round(window_packets(9.0856, 1000, 700))
    (700, 1000)
    """
    return C * (t_s - k_s(w_max_packets, epoch_packets)) ** 3 + w_max_packets


def mean_window_packets(loss: float, rtt_s: float) -> float:
    """Return the mean window in the cubic region, losses at equal distances (RFC 9438, 5).

    AVG_W_cubic = (C (3 + beta) / (4 (1 - beta)))^(1/4) RTT^(3/4) / p^(3/4), figure 6. Each loss
    is known at once there.

    >>> round(mean_window_packets(1e-4, 0.1)), round(mean_window_packets(1e-6, 0.1))
    (187, 5926)
    """
    factor = (C * (3 + BETA) / (4 * (1 - BETA))) ** 0.25
    return float(factor * rtt_s**0.75 / loss**0.75)
