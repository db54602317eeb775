"""Measures of a standing queue, of losses in all, and of flows that share a bottleneck."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from farpath.metrics import flow as flow_metrics
from farpath.metrics.run import fairness
from farpath.metrics.short_flow import summarise_short_flows
from farpath.uses.conformance.trace_parts import Measured, unseen

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.record import Record

#: The part of a run in which a stack has long answered to a change before it.
END_FRACTION = 0.2
#: Round trips of a transfer that fits into an initial window: connect, then request and data.
SHORT_FLOW_RTTS = 2
SHORT_FLOW_PERCENTILE = 95
#: Of the delay that a real-time flow meets.
MEDIA_PERCENTILE = 99


def standing_queue(record: Record) -> Measured:
    """Return the median queue after the run's first quarter, over the bandwidth-delay product."""
    queue = record.samples.queue
    settled = queue[queue["t_s"] > flow_metrics.warm_up_end_s(record)]
    return Measured(float(settled["backlog_bytes"].median()) / record.plan.path.bdp_bytes)


def fraction_sent_again(record: Record) -> Measured:
    """Return packets sent again over all packets of all flows, after the run's first quarter."""
    rows = record.samples.flows
    settled = rows[rows["t_s"] > flow_metrics.warm_up_end_s(record)]
    payload = flow_metrics.payload_bytes(record.plan.path, record.plan.ip_version)
    again_per_s = float(settled["retransmits"].sum()) / record.plan.settings.flow_interval_s
    arrived_per_s = float(settled["throughput_bps"].sum()) / 8 / payload
    return Measured(again_per_s / (arrived_per_s + again_per_s))


def payload_utilisation(record: Record) -> Measured:
    """Return all flows' mean throughput over the payload rate of the bottleneck.

    A link that is full of the flows' frames has 1, and by the ``utilisation`` of runs less.
    """
    total_bps = sum(flow_metrics.mean_bps(record, flow.name) for flow in record.plan.schedule.flows)
    return Measured(total_bps / _goodput_bps(record))


def _goodput_bps(record: Record) -> float:
    """Return the payload rate of the bottleneck after the run's first quarter."""
    return flow_metrics.goodput_bps(record.plan, flow_metrics.warm_up_end_s(record))


def jain_fairness(record: Record) -> Measured:
    """Return F of the flows' mean throughputs (RFC 5166, 2.3)."""
    flows = record.plan.schedule.flows
    return Measured(fairness([flow_metrics.mean_bps(record, flow.name) for flow in flows]))


def share_left(record: Record) -> Measured:
    """Return the last flow's mean throughput over an equal share of all flows'."""
    flows = record.plan.schedule.flows
    means_bps = [flow_metrics.mean_bps(record, flow.name) for flow in flows]
    return Measured(means_bps[-1] * len(means_bps) / sum(means_bps))


def media_loss(record: Record) -> Measured:
    """Return the part of the last flow's datagrams that was lost in all the run."""
    counted = record.readback["datagrams"][record.plan.schedule.flows[-1].name]
    return Measured(counted["lost"] / counted["expected"])


def media_delay_ms(record: Record) -> Measured:
    """Return the delay towards the receiver that 99 of 100 samples of the queue make, in ms.

    The samples are those after the run's first quarter.
    """
    path = record.plan.path
    waiting_bytes = flow_metrics.settled_queue(record)["backlog_bytes"]
    waiting_ms = 8e3 * float(waiting_bytes.quantile(MEDIA_PERCENTILE / 100)) / path.rate_bps
    return Measured(path.rtt_ms / 2 + waiting_ms)


def payload_utilisation_at_the_end(record: Record) -> Measured:
    """Return the first flow's mean throughput in the run's last fifth over the payload rate."""
    plan = record.plan
    from_s = (1 - END_FRACTION) * plan.schedule.duration_s
    mean_bps = flow_metrics.mean_bps(record, plan.schedule.flows[0].name, from_s)
    return Measured(mean_bps / flow_metrics.goodput_bps(plan, from_s))


def _short_flows_of(record: Record) -> pd.DataFrame:
    """Return the table of a run's short flows."""
    frame = record.short_flows
    assert frame is not None, "the scenario has short flows"
    return frame


def payload_utilisation_beside_short_flows(record: Record) -> Measured:
    """Return all flows' mean throughput over the payload rate that short flows left them."""
    carried_bps = summarise_short_flows(
        _short_flows_of(record), record.plan.schedule.duration_s
    ).carried_bps
    goodput_bps = _goodput_bps(record)
    return Measured(payload_utilisation(record).value * goodput_bps / (goodput_bps - carried_bps))


def short_flow_completion(record: Record) -> Measured:
    """Return the completion time that 95 of 100 short flows keep, over the path's RTT.

    Stated: two round trips through a full buffer, for flows that fit into an initial window (RFC
    6928).
    """
    path = record.plan.path
    times_s = _short_flows_of(record)["completion_s"].fillna(math.inf)
    rtt_s, full_s = path.rtt_ms / 1e3, path.buffer_bytes * 8 / path.rate_bps
    percentile_s = float(times_s.quantile(SHORT_FLOW_PERCENTILE / 100, interpolation="lower"))
    if math.isinf(percentile_s):
        return unseen(f"fewer than {SHORT_FLOW_PERCENTILE} of 100 short flows ended")
    return Measured(percentile_s / rtt_s, stated=SHORT_FLOW_RTTS * (rtt_s + full_s) / rtt_s)
