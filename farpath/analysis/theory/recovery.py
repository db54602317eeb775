"""Recovery: how long a flow needs after one loss until its window is what it was."""

from __future__ import annotations


def reno_s(rate_bps: float, rtt_s: float, mss_bytes: int, packets_per_ack: int = 1) -> float:
    """C RTT^2 / (2 MSS), ``packets_per_ack`` times that: half a window, a packet per RTT.

    Of a flow whose window was the bandwidth-delay product. Source: the time to recover of
    the DataTAG reports, e.g. Martin-Flatin and Ravot, *TCP Congestion Control in Fast
    Long-Distance Networks*, 2002.
    """
    return rate_bps * rtt_s**2 / (2 * 8 * mss_bytes) * packets_per_ack
