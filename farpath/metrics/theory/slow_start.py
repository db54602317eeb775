"""How long slow start needs to deliver a number of packets."""

from __future__ import annotations

import math

#: RFC 6928: the window that a flow begins with, in packets.
INITIAL_WINDOW_PACKETS = 10


def delivery_time_s(packets: float, rtt_s: float, packet_s: float) -> float:
    """Return the time from the first packet sent until so many are acknowledged, without a loss.

    The window is 10 packets (RFC 6928) and doubles in each round trip (RFC 5681, 3.1), until it is
    as large as the bandwidth-delay product. From then on the bottleneck, which takes ``packet_s``
    for a packet, is never idle.

    >>> round(delivery_time_s(10 + 20 + 40, 0.1, 0.0001), 4)
    0.304
    """
    full_round = math.ceil(math.log2(max(1.0, rtt_s / packet_s / INITIAL_WINDOW_PACKETS)))
    last_round = math.ceil(math.log2(packets / INITIAL_WINDOW_PACKETS + 1)) - 1
    rounds = max(0, min(full_round, last_round))
    sent_before = INITIAL_WINDOW_PACKETS * ((1 << rounds) - 1)
    return (rounds + 1) * rtt_s + (packets - sent_before) * packet_s
