"""How two Reno flows of unlike RTTs share a drop-tail bottleneck."""

from __future__ import annotations


def synchronised_ratio(rtt_ms: float, other_rtt_ms: float) -> float:
    """Return the throughput of the flow with ``rtt_ms`` over the other's, if both lose together.

    Between two losses each window grows by a packet in each RTT, and a rate by a packet per RTT^2.
    The RTTs are those with the queue. Source: Lakshman and Madhow, *The performance of TCP/IP for
    networks with high bandwidth-delay products and random loss*, ToN 5(3), 1997, section V.

    >>> synchronised_ratio(20, 40)
    4.0
    """
    return (other_rtt_ms / rtt_ms) ** 2
