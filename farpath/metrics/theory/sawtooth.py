"""The sawtooth of one Reno flow that has a drop-tail bottleneck to itself.

The window grows by a packet in each round trip, from half its peak to the peak, where path and
buffer are full: ``bdp_packets + buffer_packets``. Beyond the bandwidth-delay product packets wait,
and a round trip lasts as long as the bottleneck takes for the window. Source: Appenzeller,
Keslassy, McKeown, *Sizing router buffers*, SIGCOMM 2004, section 2; the integrals over one tooth
are ours.
"""

from __future__ import annotations

#: Round trips at the peak in which the window does not grow: until the loss is known, and until the
#: lost packet has come (RFC 6675).
REPAIR_RTTS = 2


def peak_packets(bdp_packets: float, buffer_packets: float) -> float:
    """Return the window at which a packet is lost."""
    return bdp_packets + buffer_packets


def _tooth(bdp_packets: float, buffer_packets: float) -> tuple[float, float]:
    """Return duration in base RTTs and packets of the climb from half the peak to the peak."""
    peak = peak_packets(bdp_packets, buffer_packets)
    low = peak / 2
    knee = max(low, bdp_packets)
    rtts = (knee - low) + (peak**2 - knee**2) / (2 * bdp_packets)
    return rtts, (knee**2 - low**2) / 2 + (peak**2 - knee**2) / 2


def period_s(bdp_packets: float, buffer_packets: float, rtt_s: float) -> float:
    """Return the time from one loss to the next: the climb, and the repair of the loss.

    >>> round(period_s(40, 40, 0.05), 6)
    3.2
    """
    peak_rtts = max(1.0, peak_packets(bdp_packets, buffer_packets) / bdp_packets)
    return (_tooth(bdp_packets, buffer_packets)[0] + REPAIR_RTTS * peak_rtts) * rtt_s


def utilisation(bdp_packets: float, buffer_packets: float) -> float:
    """Return the fraction of the bottleneck's rate that the flow uses, its repairs left out.

    Three quarters without a buffer, all of it from one bandwidth-delay product on.

    >>> utilisation(100, 0), utilisation(100, 100), round(utilisation(100, 25), 3)
    (0.75, 1.0, 0.893)
    """
    rtts, packets = _tooth(bdp_packets, buffer_packets)
    return packets / (rtts * bdp_packets)
