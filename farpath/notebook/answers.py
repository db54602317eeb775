"""Answers: the numbers that lessons ask for, as they are measured and as theory has them.

Windows are in full packets, times of flows in seconds of the virtual clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpath.metrics import flow as flow_metrics
from farpath.metrics.theory import rtt_bias, sawtooth, slow_start
from farpath.metrics.theory.window_rules import reno_window
from farpath.notebook.overlay import RTT, THROUGHPUT, WINDOW, Panel

if TYPE_CHECKING:
    from farpath.record.record import Record
    from farpath.spec.plan import Plan

#: The bytes whose delivery ``START_MS`` measures: a page of today's web.
PAGE_BYTES = 500_000
#: A window below this fraction of its peak has lost a packet: Reno keeps a half, CUBIC 0.7.
KEPT = 0.75
#: The quantile of RTTs that stands for a full buffer.
NEARLY_ALL = 0.95


@dataclass(frozen=True)
class Answer:
    """A number that a lesson asks for.

    ``measured`` returns it from a record, NaN if the run does not show it; ``theory`` from a plan,
    None where no formula holds. A prediction is right if it is within ``tolerance``, a fraction of
    what is measured. ``why`` explains it after a run; ``panel`` is what is drawn.
    """

    unit: str
    tolerance: float
    measured: Callable[[Record], float]
    theory: Callable[[Plan], float | None]
    why: str
    panel: Panel

    def is_right(self, predicted: float, measured: float) -> bool:
        """Return whether a prediction is within the tolerance."""
        return abs(predicted - measured) <= self.tolerance * abs(measured)


def _packet_s(plan: Plan) -> float:
    """Return the time that the bottleneck takes for a full packet."""
    return plan.path.frame_bytes * 8 / plan.path.rate_bps


def _buffer_packets(plan: Plan) -> float:
    return plan.path.buffer_bytes / plan.path.frame_bytes


def _is_one_reno(plan: Plan) -> bool:
    return [flow.stack for flow in plan.schedule.flows] == ["reno"]


def _second_half_mbps(record: Record) -> float:
    half_s = record.plan.schedule.duration_s / 2
    return flow_metrics.mean_bps(record, from_s=half_s) / 1e6


def _goodput_mbps(plan: Plan) -> float:
    return flow_metrics.goodput_bps(plan) / 1e6


def page_time_ms(record: Record) -> float:
    """Return the time from a flow's first data until ``PAGE_BYTES`` are acknowledged.

    The run has a trace.
    """
    rows = flow_metrics.first_flow_trace(record)
    assert rows is not None
    # iperf3 sends a few bytes about itself before the data
    sent = rows[rows["in_flight_packets"] > 1]
    done = rows[rows["bytes_acked"] >= PAGE_BYTES]
    if sent.empty or done.empty:
        return math.nan
    return float(done["t_s"].iloc[0] - sent["t_s"].iloc[0]) * 1e3


def _page_theory_ms(plan: Plan) -> float:
    packets = PAGE_BYTES / flow_metrics.payload_bytes(plan.path, plan.ip_version)
    return slow_start.delivery_time_s(packets, plan.path.rtt_ms / 1e3, _packet_s(plan)) * 1e3


def loss_times_s(record: Record) -> list[float]:
    """Return when the first flow's window began to fall by a quarter or more."""
    rows = flow_metrics.flow_samples(record, record.plan.schedule.flows[0].name)
    times_s: list[float] = []
    peak_s, peak, falling = 0.0, 0.0, False
    for t_s, window in zip(rows["t_s"], rows["cwnd_bytes"], strict=True):
        if window >= peak:
            peak_s, peak, falling = t_s, window, False
        elif falling:
            peak_s, peak = t_s, window
        elif window < KEPT * peak:
            times_s.append(float(peak_s))
            peak_s, peak, falling = t_s, window, True
    return times_s


def tooth_s(record: Record) -> float:
    """Return the mean time from one loss to the next, without the first: slow start ends by it."""
    times_s = loss_times_s(record)[1:]
    return math.nan if len(times_s) < 2 else (times_s[-1] - times_s[0]) / (len(times_s) - 1)


def _tooth_theory_s(plan: Plan) -> float | None:
    if not _is_one_reno(plan):
        return None
    bdp_packets = flow_metrics.bdp_packets(plan.path)
    return sawtooth.period_s(bdp_packets, _buffer_packets(plan), plan.path.rtt_ms / 1e3)


def _utilisation_percent(record: Record) -> float:
    return 100 * flow_metrics.mean_bps(record) / 1e6 / _goodput_mbps(record.plan)


def _utilisation_theory_percent(plan: Plan) -> float | None:
    if not _is_one_reno(plan):
        return None
    return 100 * sawtooth.utilisation(flow_metrics.bdp_packets(plan.path), _buffer_packets(plan))


def _means_bps(record: Record) -> list[float]:
    return [flow_metrics.mean_bps(record, flow.name) for flow in record.plan.schedule.flows]


def _first_share_percent(record: Record) -> float:
    means_bps = _means_bps(record)
    return 100 * means_bps[0] / sum(means_bps)


def _ratio(record: Record) -> float:
    first_bps, second_bps = _means_bps(record)
    return first_bps / second_bps if second_bps else math.inf


def _ratio_theory(plan: Plan) -> float | None:
    if [flow.stack for flow in plan.schedule.flows] != ["reno", "reno"]:
        return None
    # The queue is half full on average
    queue_ms = plan.path.buffer_bytes * 8e3 / plan.path.rate_bps / 2
    near_ms, far_ms = (plan.host_rtt_ms(flow.sender) + queue_ms for flow in plan.schedule.flows)
    return rtt_bias.synchronised_ratio(near_ms, far_ms)


def _after_start_mbps(record: Record) -> float:
    return flow_metrics.mean_bps(record) / 1e6


def _loss_theory_mbps(plan: Plan) -> float | None:
    if not _is_one_reno(plan) or not plan.path.loss:
        return None
    payload_bytes = flow_metrics.payload_bytes(plan.path, plan.ip_version)
    rate_mbps = reno_window(plan.path.loss) * payload_bytes * 8 / (plan.path.rtt_ms * 1e3)
    return min(rate_mbps, _goodput_mbps(plan))


def _loaded_rtt_ms(record: Record) -> float:
    rows = flow_metrics.flow_samples(record, record.plan.schedule.flows[0].name)
    later = rows[rows["t_s"] > flow_metrics.warm_up_end_s(record)]
    return float(later["rtt_us"].quantile(NEARLY_ALL)) / 1e3


def _full_buffer_rtt_ms(plan: Plan) -> float | None:
    if {flow.stack for flow in plan.schedule.flows} - {"reno", "cubic"}:
        return None
    return plan.path.rtt_ms + plan.path.buffer_bytes * 8e3 / plan.path.rate_bps


PAYLOAD_RATE = Answer(
    "Mbit/s", 0.03, _second_half_mbps, _goodput_mbps,
    "Each packet carries 1448 bytes of data in a frame of 1514: headers of TCP, IP and Ethernet "
    "take 66 bytes. So data are 1448/1514 of the rate, whatever the RTT.",
    THROUGHPUT,
)  # fmt: skip
START_MS = Answer(
    "ms", 0.2, page_time_ms, _page_theory_ms,
    "500 kB are 346 packets. Windows of 10, 20, 40, 80, 160, 320 packets deliver 10, 30, 70, 150, "
    "310, 630 after one to six round trips: six round trips, and the time that the bottleneck "
    "takes for the last window. A faster link saves only the latter.",
    WINDOW,
)  # fmt: skip
TOOTH_S = Answer(
    "s", 0.2, tooth_s, _tooth_theory_s,
    "At a loss path and buffer are full: the window is BDP + buffer. It begins again at the half "
    "and gains one packet in each round trip, and a round trip is longer while packets wait. "
    "In two more round trips the window does not grow: until the loss is known, and until the "
    "lost packet has come.",
    WINDOW,
)  # fmt: skip
UTILISATION_PERCENT = Answer(
    "%", 0.05, _utilisation_percent, _utilisation_theory_percent,
    "After a loss half of BDP + buffer is in flight. That still fills the path if the buffer "
    "holds one BDP. With less the link idles until the window has grown back; without a buffer a "
    "quarter of the rate is lost.",
    THROUGHPUT,
)  # fmt: skip
FIRST_SHARE_PERCENT = Answer(
    "%", 0.15, _first_share_percent, lambda _plan: None,
    "BBR keeps up to two BDP in flight and does not back off for a loss; CUBIC takes all of the "
    "buffer and backs off at each loss. A shallow buffer loses packets before CUBIC has a share; "
    "in a deep one CUBIC's packets fill the queue, and BBR's two BDP are the smaller part.",
    THROUGHPUT,
)  # fmt: skip
RTT_RATIO = Answer(
    "", 0.3, _ratio, _ratio_theory,
    "A window grows by a packet in each of its own round trips, and gives a rate of window / RTT: "
    "if both flows lose together, rates are as 1 / RTT^2. The RTTs are those with the queue, "
    "which is the same for both and makes them more alike.",
    THROUGHPUT,
)  # fmt: skip
LOSSY_RATE = Answer(
    "Mbit/s", 0.25, _after_start_mbps, _loss_theory_mbps,
    "Mathis: the mean window is 1.22 / sqrt(p) packets, and the rate is window / RTT. Four times "
    "the loss halves the rate, and so does twice the RTT. The rate of the link is not in the "
    "formula.",
    THROUGHPUT,
)  # fmt: skip
LOADED_RTT_MS = Answer(
    "ms", 0.15, _loaded_rtt_ms, _full_buffer_rtt_ms,
    "A flow that stops at losses only fills the buffer, whatever its size. The last packet waits "
    "until the bottleneck has sent all of it: buffer / rate.",
    RTT,
)  # fmt: skip
