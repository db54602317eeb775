"""The time that a flow's window needs to recover from one loss."""

from __future__ import annotations


def reno_s(rate_bps: float, rtt_s: float, mss_bytes: int, packets_per_ack: int = 1) -> float:
    """Return C RTT^2 / (2 MSS) times ``packets_per_ack``: half a window, one packet per RTT.

    The window before the loss is the bandwidth-delay product. Source: the time to recover of the
    DataTAG reports, e.g. Martin-Flatin and Ravot, *TCP Congestion Control in Fast Long-Distance
    Networks*, 2002.
    """
    return rate_bps * rtt_s**2 / (2 * 8 * mss_bytes) * packets_per_ack
