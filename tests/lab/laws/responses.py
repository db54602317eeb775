"""Response functions: a real stack's mean window on a path that loses packets at random.

:mod:`farpath.metrics.theory.response` predicts it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from farpath.metrics.theory.response import WARM_UP_LOSSES, Rule, mean_window, standard_error
from farpath.record.record import Record
from farpath.spec.path import Path
from tests.support.paths import SHORT

from ..conftest import RunPlan, single_flow

#: Payload of a full packet at an MTU of 1500 bytes: IPv4 and TCP headers take 40
#: bytes, the timestamp option 12.
PAYLOAD_BYTES = 1448
RTT_S = 0.02
#: SO_RCVLOWAT of 128 KB, with which the receiver runs, makes a smaller buffer larger.
LEAST_WINDOW_BYTES = 262_144
#: What the prediction leaves out, relative: a lost retransmission is repeated an RTT
#: later or after a timeout, and a window with several losses takes longer to recover.
MODEL_ERROR = 0.03


def lossy_path(loss: float, window_packets: float) -> Path:
    """A path without a queue; the receiver's window is far above the flow's own.

    Far above, and yet so near that slow start, which ends by a loss or by that
    window, does not begin the run at a hundred times the mean.
    """
    path = SHORT
    window_bytes = max(LEAST_WINDOW_BYTES, round(4 * window_packets * PAYLOAD_BYTES))
    sysctl = {**path.sysctl, "net.ipv4.tcp_wmem": "4096 65536 134217728"}
    return dataclasses.replace(
        path,
        rtt_ms=RTT_S * 1000,
        rate_bps=10_000_000_000,
        buffer_bytes=50_000_000,
        loss=loss,
        window_bytes=window_bytes,
        sysctl={**sysctl, "net.core.rmem_max": "134217728", "net.core.wmem_max": "134217728"},
    )


def nightly_below(least: float, losses: Iterable[float]) -> list[Any]:
    """Loss rates for a test's parameter; those below ``least``, of millions of packets, nightly.

    For stacks whose law is the same function of the loss rate at all of them.
    """
    return [
        pytest.param(loss, marks=pytest.mark.nightly if loss < least else ()) for loss in losses
    ]


@dataclass(frozen=True)
class Measured:
    """What a real flow had: its mean window, the packets it lost, and their share."""

    window: float
    losses: float
    loss: float


def lost_packets(record: Record) -> int:
    """Packets that the path has lost, as netem counted them.

    The flow's own count of what it sent again is larger where each packet is
    acknowledged: a host of no delay sends a new packet in the very microsecond of a
    retransmission, and RACK, which breaks the tie by sequence number, then takes
    the retransmission for lost when that packet arrives (tcp_skb_sent_after).
    """
    queues = record.data["readback"]["after"]["qdiscs"]
    return sum(queue["drops"] for queue in queues if queue["kind"] == "netem")


def measure(
    run_plan: RunPlan, stack: str, loss: float, expected: float, losses: int, **settings: Any
) -> Measured:
    """A real flow over about ``losses`` losses: window = packets sent per second * RTT.

    ``expected``, a window, decides how long the flow runs. Packets are those of the
    throughput and those sent again, which take as much of a window; RTT is the flow's
    own, mean of its samples. What was lost after the flow had warmed up is the path's
    count in the proportion in which packets were sent again.
    """
    s_per_loss = RTT_S / (loss * expected)
    warm_up_s = WARM_UP_LOSSES * s_per_loss
    duration_s = math.ceil(warm_up_s + losses * s_per_loss)
    record = run_plan(single_flow(stack, duration_s, lossy_path(loss, expected), **settings))
    rows = record.samples.flows
    warm = rows[(rows["t_s"] > warm_up_s) & (rows["rtt_us"] > 0)]
    lost = lost_packets(record) * warm["retransmits"].sum() / rows["retransmits"].sum()
    seconds = len(warm) * record.plan.settings.sample_interval_s
    packets = warm["throughput_bps"].mean() * seconds / 8 / PAYLOAD_BYTES
    packets += warm["retransmits"].sum()
    packets_per_s = packets / seconds
    return Measured(float(packets_per_s * warm["rtt_us"].mean() / 1e6), lost, lost / packets)


def assert_follows(
    measured: Measured, rule: Rule, published: float, model_error: float = MODEL_ERROR
) -> None:
    """Hold a mean window against the rule's own at the loss rate that the flow had.

    Tolerance: three standard errors of so few losses, and what the prediction leaves out.
    """
    predicted = mean_window(rule, measured.loss)
    tolerance = 3 * standard_error(rule, measured.loss, round(measured.losses)) + model_error
    ratio = measured.window / predicted
    print(
        f"{measured.losses:.0f} losses, p = {measured.loss:.3g}: "
        f"mean window {measured.window:.1f} / predicted {predicted:.1f} = {ratio:.3f} "
        f"(within {tolerance:.3f}); losses at equal distances, as published: {published:.1f}"
    )
    assert ratio == pytest.approx(1, abs=tolerance)
