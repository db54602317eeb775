"""Deliveries: a link that sends at the times of a trace, as mahimahi's link does.

A trace is a list of times in ms that do not fall. At each of them is an opportunity to deliver
1500 bytes of IP packets, and behind the last one the trace begins again, for ever (R. Netravali et
al., *Mahimahi: Accurate Record-and-Replay for HTTP*, USENIX ATC 2015; traces/README there).
images/kernel/devices/deliveries.c is the link.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from farpath.spec.changes import Timeline
from farpath.spec.ethernet import ETHERNET_HEADER_BYTES

#: What an opportunity delivers, in bytes of IP packets.
OPPORTUNITY_BYTES = 1500
#: Most opportunities of a trace: a minute of 200 Mbit/s, a quarter of an hour of 13 Mbit/s.
MOST_OPPORTUNITIES = 1_000_000
#: Times are 32 bits in the module.
MOST_MS = 86_400_000
#: Length of the parts of a run for which figures and tables have the mean rate of a trace, in s.
BIN_S = 1.0


def trace_problem(times_ms: Sequence[int]) -> str:
    """Return what is wrong with a trace, in words; empty if nothing is.

    >>> trace_problem([0, 0]), trace_problem([5, 3])
    ('all its times are 0: it has no length', 'its times must not fall, and 3 comes after 5')
    """
    if not times_ms:
        return "it has no line: a line holds the time of an opportunity in ms"
    if len(times_ms) > MOST_OPPORTUNITIES:
        return f"it has {len(times_ms):,} lines, and at most {MOST_OPPORTUNITIES:,} are possible"
    for before_ms, after_ms in pairwise((0, *times_ms)):
        if after_ms < before_ms:
            return f"its times must not fall, and {after_ms} comes after {before_ms}"
    if not times_ms[-1]:
        return "all its times are 0: it has no length"
    if times_ms[-1] > MOST_MS:
        return f"it ends at {times_ms[-1]:,} ms, and at most {MOST_MS:,} ms are possible"
    return ""


def opportunities_before(times_ms: Sequence[int], time_s: float) -> int:
    """Return how many opportunities of a trace come before a time.

    >>> [opportunities_before([1, 2, 2], time_s / 1e3) for time_s in (1, 2, 3, 4, 5)]
    [0, 1, 3, 4, 6]
    """
    time_ms, period_ms = round(time_s * 1e3, 6), times_ms[-1]
    rounds = int(time_ms // period_ms)
    # The last opportunities of a round come when the next one begins
    earlier = max(0, rounds - 1) * len(times_ms)
    if rounds:
        earlier += bisect_left(times_ms, time_ms - (rounds - 1) * period_ms)
    return earlier + bisect_left(times_ms, time_ms - rounds * period_ms)


def rate_bps(opportunities: int, time_s: float) -> float:
    """Return the rate of full frames of opportunities in a time, in bit/s.

    >>> rate_bps(1000, 1.0)
    12112000.0
    """
    return 8 * opportunities * (OPPORTUNITY_BYTES + ETHERNET_HEADER_BYTES) / time_s


def mean_rate_bps(times_ms: Sequence[int]) -> int:
    """Return the mean rate of a trace in whole bit/s, counted over full frames."""
    return round(rate_bps(len(times_ms), times_ms[-1] / 1e3))


def rate_timeline(times_ms: Sequence[int], duration_s: float) -> Timeline:
    """Return the rate of a trace over a run in bit/s, as means over parts of ``BIN_S``."""
    starts_s = [number * BIN_S for number in range(max(1, round(duration_s / BIN_S)))]
    counts = [opportunities_before(times_ms, at_s) for at_s in (*starts_s, duration_s)]
    lengths_s = [after - before for before, after in pairwise((*starts_s, duration_s))]
    rates_bps = [
        rate_bps(after - before, length_s)
        for (before, after), length_s in zip(pairwise(counts), lengths_s, strict=True)
    ]
    return Timeline(tuple(starts_s), tuple(rates_bps), duration_s)
