"""HyStart of CUBIC on slow and fast links: the end of slow start by a train of ACKs, or by delay.

Source: S. Ha, I. Rhee, Taming the elephants: new TCP slow start, 2011, and hystart_update and
hystart_ack_delay of net/ipv4/tcp_cubic.c.
"""

from __future__ import annotations

import pytest

from farpath.metrics import flow as flow_metrics
from farpath.planning.request import RunRequest
from farpath.spec.path import Path

from ..conftest import RunPlan

#: Windows of the rounds of slow start, from an initial window of ten packets.
ROUNDS = [10 * 2**number for number in range(12)]
#: Constants of tcp_cubic.c: ACKs further apart are no train; the queue that ends slow start is an
#: eighth of the base RTT within these bounds, in the least of eight RTTs of a round.
ACK_DELTA_S = 0.002
DELAY_MIN_S, DELAY_MAX_S = 0.004, 0.016
SAMPLES = 8
#: Half of the longest time for which ACKs are assumed to be held up together.
ACK_DELAY_S = 0.0005


def end_by_train(path: Path, packet_s: float) -> float:
    """Return the window when a train of ACKs has lasted half an RTT and half the ACKs' delay."""
    train = (path.rtt_ms / 2e3 + ACK_DELAY_S) / packet_s
    return train + next(window for window in ROUNDS if window >= train)


def end_by_delay(path: Path, packet_s: float) -> float:
    """Return the window when eight RTTs of a round are above the base RTT by an eighth.

    They are of packets that were sent in the round before, which was the first to hold a queue of
    that length.
    """
    delay_s = min(max(path.rtt_ms / 8e3, DELAY_MIN_S), DELAY_MAX_S)
    longest = flow_metrics.bdp_packets(path) + delay_s / packet_s
    return SAMPLES + 2 * next(window for window in ROUNDS if window > longest)


@pytest.mark.parametrize(
    ("rate", "rtt"),
    [("1Mbit", "300ms"), ("2Mbit", "100ms"), ("5Mbit", "100ms"), ("10Mbit", "100ms"),
     ("10Mbit", "40ms"), ("100Mbit", "20ms")],
)  # fmt: skip
def test_slow_start_ends_by_the_train_where_acks_are_close_and_by_the_delay_where_they_are_not(
    run_plan: RunPlan, rate: str, rtt: str
) -> None:
    request = RunRequest(rtt=rtt, rate=rate, buffer="8xBDP", stack="cubic", time="5s", trace="1ms")
    record = run_plan(request.plan())
    path, trace = record.plan.path, record.trace
    assert trace is not None
    packet_s = 8 * path.frame_bytes / path.rate_bps
    ends = end_by_train if packet_s < ACK_DELTA_S else end_by_delay
    window = int(trace[trace["ssthresh_packets"] > 0]["ssthresh_packets"].iloc[0])
    predicted = ends(path, packet_s)
    print(f"slow start ended at {window} packets, {ends.__name__} says {predicted:.1f}")
    assert window == pytest.approx(predicted, abs=2)
