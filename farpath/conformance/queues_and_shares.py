"""Measures of a standing queue, of losses in all, and of flows that share a bottleneck."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.analysis import flow_metrics
from farpath.analysis.metrics import fairness
from farpath.conformance.measured import Measured

if TYPE_CHECKING:
    from farpath.record.record import Record


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


def utilisation(record: Record) -> Measured:
    """Return all flows' mean throughput over the payload rate of the bottleneck."""
    total_bps = sum(flow_metrics.mean_bps(record, flow.name) for flow in record.plan.schedule.flows)
    goodput_bps = flow_metrics.goodput_bps(record.plan.path, record.plan.ip_version)
    return Measured(total_bps / goodput_bps)


def jain_fairness(record: Record) -> Measured:
    """Return F of the flows' mean throughputs (RFC 5166, 2.3)."""
    flows = record.plan.schedule.flows
    return Measured(fairness([flow_metrics.mean_bps(record, flow.name) for flow in flows]))


def share_left(record: Record) -> Measured:
    """Return the last flow's mean throughput over an equal share of all flows'."""
    flows = record.plan.schedule.flows
    means_bps = [flow_metrics.mean_bps(record, flow.name) for flow in flows]
    return Measured(means_bps[-1] * len(means_bps) / sum(means_bps))
