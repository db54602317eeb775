"""Response functions: the mean window of a stack on a path that loses packets at random.

Windows are in packets, ``loss`` is the probability that a packet is lost. The
published formulas take losses at equal distances; the lab's are random, and a loss
is known one round trip later. :func:`mean_window` predicts that from a stack's own
increase and decrease. :func:`measure` runs the real one.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from farpath.path import Path
from farpath.record import Record
from tests.paths import SHORT

from ..conftest import RunPlan, single_flow

#: Payload of a full packet at an MTU of 1500 bytes: IPv4 and TCP headers take 40
#: bytes, the timestamp option 12.
PAYLOAD_BYTES = 1448
RTT_S = 0.02
#: SO_RCVLOWAT of 128 KB, with which the receiver runs, makes a smaller buffer larger.
LEAST_WINDOW_BYTES = 262_144
#: Losses after which a flow has forgotten how it began: Scalable, the slowest,
#: comes from four times its mean window to it in eleven (ln 4 / ln 8/7).
WARM_UP_LOSSES = 12
#: What the prediction leaves out, relative: a lost retransmission is repeated an RTT
#: later or after a timeout, and a window with several losses takes longer to recover.
MODEL_ERROR = 0.03


@dataclass(frozen=True)
class Law:
    """A stack's published rule: packets gained in an RTT, part of the window lost."""

    increase: Callable[[float], float]
    decrease: Callable[[float], float]


def part_lost(window_after: Callable[[int], int]) -> Callable[[float], float]:
    """The part of a window that a loss takes, by the kernel's rule for whole packets.

    What ACKs had added towards the next packet is lost too (tcp_init_cwnd_reduction
    clears snd_cwnd_cnt).
    """
    return lambda window: 1 - window_after(math.floor(window)) / window


def reno(packets_per_ack: int = 1) -> Law:
    """RFC 5681, 3.1: one packet per window of ACKs, half of the window, as in 2004.

    2.6.11 added a packet after cwnd + 1 ACKs; and one with the first ACK after
    recovery, which found the window at ssthresh and took that for slow start.
    """
    return Law(lambda w: w / (w + 1) / packets_per_ack, part_lost(lambda w: w // 2 + 1))


def todays_reno() -> Law:
    """RFC 5681, 3.1, as mainline has it today: packets are counted, not ACKs."""
    return Law(lambda w: 1.0, part_lost(lambda w: w // 2))


def reno_window(loss: float, packets_per_ack: int = 1) -> float:
    """Mathis et al., CCR 27(3), 1997, equation 3: sqrt(3 / (2 b p))."""
    return math.sqrt(1.5 / packets_per_ack / loss)


def scalable() -> Law:
    """Kelly, CCR 33(2), 2003: 0.01 per ACK, an eighth; Reno up to 16 packets."""
    slow = reno()
    fast = Law(lambda w: 0.01 * w, part_lost(lambda w: w - w // 8 + 1))
    return Law(
        lambda w: (fast if w >= 17 else slow).increase(w),
        lambda w: (fast if w >= 17 else slow).decrease(w),
    )


def scalable_window(loss: float) -> float:
    """Mean of the sawtooth from 7/8 W to W, which takes 1/p = W / 8 / 0.01 packets.

    A window that grows by the factor e^(0.01 t) has the mean (W / 8) / ln(8/7).
    """
    return 0.01 / loss / math.log(8 / 7)


def hstcp_window(loss: float) -> float:
    """RFC 3649, section 5: 0.12 / p^0.835 above 38 packets."""
    return 0.12 / loss**0.835


def ltcp_thresholds(variant: int, threshold: int = 50) -> list[float]:
    """W_K for K = 1, 2, ...: table 1 of draft-bhandarkar-ltcp-00 (0) and -01 (1)."""
    if variant:
        return [layers * (layers**2 - 1) / 6 * threshold for layers in range(1, 40)]
    steps = [threshold * (5 / 3) ** number for number in range(39)]
    return [sum(steps[:number]) for number in range(39)]


def ltcp(variant: int) -> Law:
    """As many layers as the window has, K packets per RTT; 20 % or 15 %, half at K = 1.

    draft-bhandarkar-ltcp-00, 4.2, and -01, 4.2. That a loss takes one layer at most
    makes no difference while beta < 3 / (K + 1).
    """
    thresholds = ltcp_thresholds(variant)
    percent = 15 if variant else 20
    slow = reno()
    layered = Law(
        lambda w: float(sum(w >= least for least in thresholds)),
        part_lost(lambda w: w - w * percent // 100 + 1),
    )
    return Law(
        lambda w: (layered if w >= thresholds[1] else slow).increase(w),
        lambda w: (layered if w >= thresholds[1] else slow).decrease(w),
    )


def ltcp_window(loss: float, variant: int) -> float:
    """sqrt(C K / p) with the K of that very window: -00, 4.2, and -01, 4.2.4.

    C is (3 alpha + 1) / 2 (alpha - 1), and 1 / beta - 1/2: 4.5 and 6.17.
    """
    constant = 1 / 0.15 - 0.5 if variant else 4.5
    layers = 1
    while math.sqrt(constant * layers / loss) >= ltcp_thresholds(variant)[layers]:
        layers += 1
    return math.sqrt(constant * layers / loss)


def _until_loss(loss: float, rng: random.Random) -> float:
    """Packets up to and including the next one lost."""
    return math.log(1 - rng.random()) / math.log(1 - loss) + 1


def _recovery_rtts(window: float, loss: float, rng: random.Random) -> float:
    """How long the recovery of a window lasts, once its first loss is known.

    One RTT; a loss among the ``window`` packets that were sent until then is known,
    and its retransmission acknowledged, so much later as it was sent later.
    """
    last, position = 0.0, _until_loss(loss, rng)
    while position < window:
        last, position = position, position + _until_loss(loss, rng)
    return 1 + last / window


def _flight(law: Law, window: float, loss: float, rng: random.Random) -> tuple[float, float, float]:
    """From the start of one recovery to that of the next: packets, RTTs, window then.

    ``window`` is the one at the loss.
    """
    recovery_rtts = _recovery_rtts(window, loss, rng)
    window = max(2.0, window * (1 - law.decrease(window)))
    # The window does not grow in recovery. What is lost in it is found an RTT after
    # it was sent.
    packets, rtts = window * recovery_rtts, recovery_rtts
    until_loss = _until_loss(loss, rng)
    left = until_loss - packets
    while left > window:
        left -= window
        packets, rtts = packets + window, rtts + 1
        window += law.increase(window)
    if left > 0:
        packets, rtts = packets + left, rtts + left / window
        window += law.increase(window) * left / window
    # The loss is known when the packets sent in this RTT are on their way too
    part = min(1.0, until_loss / window)
    packets, rtts = packets + window * part, rtts + part
    return packets, rtts, window + law.increase(window) * part


def _play(law: Law, loss: float, losses: int, seed: int) -> tuple[float, float]:
    """Mean window of a flow through so many random losses, and losses per packet then."""
    rng = random.Random(seed)
    window = 1 / math.sqrt(loss)
    packets = rtts = 0.0
    for number in range(losses + WARM_UP_LOSSES):
        sent, taken, window = _flight(law, window, loss, rng)
        if number >= WARM_UP_LOSSES:
            packets, rtts = packets + sent, rtts + taken
    return packets / rtts, losses / packets


def mean_window(law: Law, loss: float) -> float:
    """Packets per RTT of a flow that follows ``law``, over 4000 random losses.

    Losses of one window are one loss (RFC 6675): those within the RTT until the
    first of them is known cost nothing more. For Reno this gives 1.31 / sqrt(p), as
    Ott, Kemperman and Mathis found for random losses (1996), against the 1.22 of
    losses at equal distances.
    """
    return _play(law, loss, 4000, seed=1)[0]


def standard_error(law: Law, loss: float, losses: int) -> float:
    """How far a flow's mean over so few losses lies from what its own loss rate predicts.

    Relative, one standard deviation over forty flows that follow ``law``.
    """
    slope = math.log(mean_window(law, 1.25 * loss) / mean_window(law, loss / 1.25))
    slope /= 2 * math.log(1.25)
    whole, its_loss = _play(law, loss, 4000, seed=1)
    flows = [_play(law, loss, losses, seed) for seed in range(2, 42)]
    errors = [window / whole / (rate / its_loss) ** slope - 1 for window, rate in flows]
    return math.sqrt(sum(error**2 for error in errors) / len(errors))


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
    run_plan: RunPlan, stack: str, loss: float, expected: float, losses: int, **settings: object
) -> Measured:
    """A real flow over about ``losses`` losses: window = throughput * RTT / payload.

    ``expected``, a window, decides how long the flow runs. RTT is the flow's own,
    mean of its samples. What was lost after the flow had warmed up is the path's
    count in the proportion in which packets were sent again.
    """
    s_per_loss = RTT_S / (loss * expected)
    warm_up_s = WARM_UP_LOSSES * s_per_loss
    duration_s = math.ceil(warm_up_s + losses * s_per_loss)
    record = run_plan(single_flow(stack, duration_s, lossy_path(loss, expected), **settings))
    rows = record.samples.flows
    warm = rows[(rows["t_s"] > warm_up_s) & (rows["rtt_us"] > 0)]
    lost = lost_packets(record) * warm["retransmits"].sum() / rows["retransmits"].sum()
    packets_per_s = warm["throughput_bps"].mean() / 8 / PAYLOAD_BYTES
    packets = packets_per_s * len(warm) * record.plan.settings.sample_interval_s
    return Measured(float(packets_per_s * warm["rtt_us"].mean() / 1e6), lost, lost / packets)


def assert_follows(
    measured: Measured, law: Law, published: float, model_error: float = MODEL_ERROR
) -> None:
    """Hold a mean window against the law's own at the loss rate that the flow had.

    Tolerance: three standard errors of so few losses, and what the prediction leaves out.
    """
    predicted = mean_window(law, measured.loss)
    tolerance = 3 * standard_error(law, measured.loss, round(measured.losses)) + model_error
    ratio = measured.window / predicted
    print(
        f"{measured.losses:.0f} losses, p = {measured.loss:.3g}: "
        f"mean window {measured.window:.1f} / predicted {predicted:.1f} = {ratio:.3f} "
        f"(within {tolerance:.3f}); losses at equal distances, as published: {published:.1f}"
    )
    assert ratio == pytest.approx(1, abs=tolerance)
