"""The window at which HyStart of CUBIC ends slow start: by a train of ACKs, or by delay.

Source: S. Ha, I. Rhee, Taming the elephants: new TCP slow start, 2011, and hystart_update and
hystart_ack_delay of net/ipv4/tcp_cubic.c.
"""

from __future__ import annotations

from farpath.metrics import flow as flow_metrics
from farpath.spec.path import Path

#: Windows of the rounds of slow start, from an initial window of ten packets.
ROUNDS = [10 * 2**number for number in range(12)]
#: Constants of tcp_cubic.c: ACKs further apart are no train; the queue that ends slow start is an
#: eighth of the base RTT within these bounds, in the least of eight RTTs of a round.
ACK_DELTA_S = 0.002
DELAY_MIN_S, DELAY_MAX_S = 0.004, 0.016
SAMPLES = 8
#: Half of the longest time for which ACKs are assumed to be held up together.
ACK_DELAY_S = 0.0005


def packet_s(path: Path) -> float:
    """Return the time for which the bottleneck sends a full packet."""
    return 8 * path.frame_bytes / path.rate_bps


def end_by_train(path: Path) -> float:
    """Return the window when a train of ACKs has lasted half an RTT and half the ACKs' delay."""
    train = (path.rtt_ms / 2e3 + ACK_DELAY_S) / packet_s(path)
    return train + next(window for window in ROUNDS if window >= train)


def end_by_delay(path: Path) -> float:
    """Return the window when eight RTTs of a round are above the base RTT by an eighth.

    They are of packets that were sent in the round before, which was the first to hold a queue of
    that length.
    """
    delay_s = min(max(path.rtt_ms / 8e3, DELAY_MIN_S), DELAY_MAX_S)
    longest = flow_metrics.bdp_packets(path) + delay_s / packet_s(path)
    return SAMPLES + 2 * next(window for window in ROUNDS if window > longest)
