"""Arrivals of datagrams: how far their spacing at the receiver is off that of the sender.

Datagrams that leave at a constant spacing need no clock of the sender: between datagrams i and j
the time on the way changes by D(i, j) = (R_j - R_i) - (j - i) spacing (RFC 3550, 6.4.1, with
S_j - S_i = (j - i) spacing). UDPmon draws the same as a histogram of the times between arrivals.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

#: Width of the histogram's bins, which the multiples of it are the middles of, and the largest
#: deviation that has a bin of its own.
BIN_NS, MOST_BIN = 1_000, 10_000


class ArrivalNotes:
    """What is noted of a flow's datagrams, one by one.

    ``spacing_ns``: of their sender.
    """

    def __init__(self, spacing_ns: float) -> None:
        self.spacing_ns = spacing_ns
        self.last: tuple[int, int] | None = None
        self.count = 0
        self.sum_ns = 0.0
        self.most_ns = 0.0
        self.bins: Counter[int] = Counter()

    def add(self, number: int, at_ns: int) -> None:
        """Note an arrival; one that comes after a later datagram is left out.

        ``number``: the datagram's, from its sender. ``at_ns``: by any clock of the receiver.
        """
        if self.last is not None:
            last_number, last_ns = self.last
            if number <= last_number:
                return
            deviation_ns = at_ns - last_ns - (number - last_number) * self.spacing_ns
            self.count += 1
            self.sum_ns += abs(deviation_ns)
            self.most_ns = max(self.most_ns, abs(deviation_ns))
            self.bins[max(-MOST_BIN, min(MOST_BIN, round(deviation_ns / BIN_NS)))] += 1
        self.last = number, at_ns

    def result(self) -> dict[str, Any]:
        """Return the notes as plain data.

        ``deviations``: how many there are. ``jitter_us``: the mean of their sizes, which the
        smoothed jitter of RFC 3550 is an estimate of; None without any. ``most_us``: the largest.
        ``histogram``: the deviation in us in the middle of each bin, and how many are in it.
        """
        jitter_us = self.sum_ns / self.count / 1e3 if self.count else None
        return {
            "deviations": self.count,
            "jitter_us": jitter_us,
            "most_us": self.most_ns / 1e3,
            "histogram": [[middle, self.bins[middle]] for middle in sorted(self.bins)],
        }


def quantile_us(histogram: Sequence[Sequence[int]], part: float) -> float:
    """Return the size of deviation in us that a part of all does not exceed; NaN without any.

    >>> quantile_us([[-2, 1], [0, 97], [5, 2]], 0.98)
    2.0
    """
    sizes: Counter[int] = Counter()
    for middle, count in histogram:
        sizes[abs(middle)] += count
    left = part * sum(sizes.values())
    for size in sorted(sizes):
        left -= sizes[size]
        if left <= 0:
            return float(size)
    return math.nan
