"""Smoothness: how evenly a flow sends, at a time scale.

RFC 5166, 2.2.2, minimizing oscillations: Floyd, Handley and Padhye, *A Comparison of Equation-Based
and AIMD Congestion Control*, 2000, take the largest reduction of the sending rate in an RTT, and
the coefficient of variation of the rate at a time scale. Here the scale is whole seconds, of an RTT
at least, as samples are of a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from farpath.metrics.run import Array, stability


@dataclass(frozen=True)
class Smoothness:
    """How evenly a flow's throughput is spread over intervals of ``scale_s``.

    ``cov``: its coefficient of variation, 0 of a constant rate. ``largest_fall``: the largest part
    of its rate that it lost from one interval to the next, 0 to 1. Both are None with fewer than
    three intervals, and of a flow that had nothing.
    """

    scale_s: int
    cov: float | None
    largest_fall: float | None


def scale_s(rtt_ms: float) -> int:
    """Return the least number of whole seconds that an RTT fits in.

    >>> scale_s(20.0), scale_s(1200.0)
    (1, 2)
    """
    return max(1, math.ceil(rtt_ms / 1e3))


def smoothness(throughputs_bps: Array, rtt_ms: float) -> Smoothness:
    """Return how even the throughputs of successive seconds are; what is left over is not counted.

    >>> smoothness(np.array([8.0, 4.0, 8.0, 8.0]), 20.0).largest_fall
    0.5
    """
    seconds = scale_s(rtt_ms)
    whole = throughputs_bps[: throughputs_bps.size // seconds * seconds]
    rates_bps = whole.reshape(-1, seconds).mean(axis=1)
    if rates_bps.size < 3 or not rates_bps.any():
        return Smoothness(seconds, None, None)
    before, after = rates_bps[:-1], rates_bps[1:]
    lost = np.maximum(0.0, before - after)
    falls = np.divide(lost, before, out=np.zeros_like(lost), where=lost > 0)
    return Smoothness(seconds, stability(rates_bps), float(falls.max()))
