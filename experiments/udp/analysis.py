"""Measures of datagrams at a constant rate, alone and beside a TCP flow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.runs.experiment import RecordedRun
from farpath.spec import datagrams
from farpath.spec.datagram_arrivals import quantile_us
from farpath.spec.path import ETHERNET_HEADER_BYTES
from farpath.spec.plan import Plan

EXPERIMENT = "udp"
THROUGHPUT = "throughput"
LOSS = "part of the datagrams lost"
JITTER = "one-way jitter"
JITTER_P99 = "one-way jitter, 99th percentile"
TCP_THROUGHPUT = "throughput of TCP beside it"


def carried_mbps(plan: Plan, link_bps: float) -> float:
    """Return the payload rate in Mbit/s of the first flow's datagrams over a link alone."""
    stack = plan.stack_of(plan.schedule.flows[0])
    size_bytes = datagrams.size_bytes(stack)
    frame_bytes = size_bytes + datagrams.HEADERS_BYTES[plan.ip_version] + ETHERNET_HEADER_BYTES
    asked_bps = 8e9 * size_bytes / datagrams.spacing_ns(stack)
    return min(asked_bps, link_bps * size_bytes / frame_bytes) / 1e6


def stretch_us(plan: Plan, card_bps: float) -> float | None:
    """Return in us by how much the card stretches the spacing of the first flow's datagrams.

    That is the one-way jitter of a path without other traffic: every datagram finds the last one
    ahead of it. None where the bottleneck loses datagrams.
    """
    stack = plan.stack_of(plan.schedule.flows[0])
    frame_bytes = datagrams.size_bytes(stack) + datagrams.HEADERS_BYTES[plan.ip_version]
    frame_bits = 8 * (frame_bytes + ETHERNET_HEADER_BYTES)
    spacing_us = datagrams.spacing_ns(stack) / 1e3
    leaving_us = max(spacing_us, 1e6 * frame_bits / card_bps)
    if 1e6 * frame_bits / plan.path.rate_bps > leaving_us:
        return None
    return leaving_us - spacing_us


def lost_part(counts: Mapping[str, int]) -> float:
    """Return the part of a flow's datagrams that was lost.

    ``counts``: of ``farpath.record.checks.datagrams``. The receiver expects as many as the highest
    number that it saw; where it saw none, all that were sent are lost. NaN if none was sent.
    """
    if counts["expected"]:
        return counts["lost"] / counts["expected"]
    return 1.0 if counts["sent"] else math.nan


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure throughput, loss and jitter of datagrams, and the throughput of TCP beside them.

    As theory, of datagrams alone: what their spacing, the card and the bottleneck allow, the
    part of what the card sends that the bottleneck does not carry, and ``stretch_us``. Jitter is
    measured where arrivals were noted. ``about``: ``rate`` of the
    bottleneck in Mbit/s, ``size`` in bytes, ``spacing`` in us, ``beside``: a TCP stack or nothing.
    """
    measured = []
    for recorded in runs:
        plan, record = recorded.run.plan, recorded.record
        stack = plan.stack_of(plan.schedule.flows[0])
        others = plan.schedule.flows[1:]
        counts = record.data["readback"]["datagrams"]["flow1"]
        card_bps = plan.era.sender_rate_bps(plan.path.frame_bytes) or plan.path.rate_bps
        sent_mbps = carried_mbps(plan, card_bps)
        through_mbps = carried_mbps(plan, min(card_bps, plan.path.rate_bps))
        about = {
            "rate": f"{plan.path.rate_bps / 1e6:g}",
            "size": str(datagrams.size_bytes(stack)),
            "spacing": f"{datagrams.spacing_ns(stack) / 1e3:g}",
            "beside": "+".join(flow.stack for flow in others),
        }
        condition = f"{about['size']} bytes every {about['spacing']} us, {about['rate']} Mbit/s"
        if others:
            condition += f", beside {about['beside']}"
        predicted = (None, None) if others else (through_mbps, 1 - through_mbps / sent_mbps)
        values = [
            (THROUGHPUT, "Mbit/s", flow_metrics.mean_bps(record) / 1e6, predicted[0]),
            (LOSS, "", lost_part(counts), predicted[1]),
        ]
        if arrivals := counts.get("arrivals"):
            stretched_us = None if others else stretch_us(plan, card_bps)
            p99_us = quantile_us(arrivals["histogram"], 0.99)
            values += [
                (JITTER, "us", arrivals["jitter_us"], stretched_us),
                (JITTER_P99, "us", p99_us, stretched_us),
            ]
        if others:
            tcp_mbps = sum(flow_metrics.mean_bps(record, flow.name) for flow in others) / 1e6
            values.append((TCP_THROUGHPUT, "Mbit/s", tcp_mbps, None))
        measured += [
            Measure(EXPERIMENT, condition, name, unit, value, plan.seed, theory, about=about)
            for name, unit, value, theory in values
        ]
    return measured
