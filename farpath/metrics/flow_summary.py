"""The results of each flow of a run.

They are separate from ``farpath.metrics.run.Summary``, which is a file format.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from farpath.mechanisms.dropper.drops_by_flow import FlowDrops, flow_drops
from farpath.mechanisms.transfer.mechanism import completions_of
from farpath.metrics.flow import WARM_UP_FRACTION
from farpath.metrics.run import flow_per_second
from farpath.metrics.smoothness import smoothness
from farpath.programs.program import UNKNOWN
from farpath.programs.registry import program_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from farpath.metrics.run import Array
    from farpath.record.record import Record, Samples
    from farpath.spec.plan import Plan
    from farpath.spec.schedule import Flow


@dataclass(frozen=True)
class FlowSummary:
    """The results of one flow.

    ``throughput_bps``: its mean from ``start_s`` to ``stop_s``, or over ``completion_s``.
    ``share``: its fraction of all bits that the run's flows received; None for a flow in the
    reverse direction. ``retransmits``: segments sent again by TCP. ``smoothed_rtt_median_ms``,
    ``smoothed_rtt_p99_ms``: median and 99th percentile of its sender's smoothed RTT at the end of
    each interval.
    ``completion_s``: of a run with a number of bytes, the time from the first byte that the
    sender's TCP was given to the acknowledgement of the last one. ``drops``: its packets towards
    the receiver that the queues of the path's bottlenecks dropped. ``lost``: those that the path's
    random loss and droppers took. ``spurious``: retransmissions beyond the packets that the path
    took, as far as both are counted: of packets that had arrived. ``resent``: packets that a
    program with a transport of its own (UDT, QUIC) sent again. ``rate_cov``, ``largest_fall``: its
    smoothness (``farpath.metrics.smoothness``) without the first quarter of its time; None of a
    number of bytes. Values that are not known are None.
    """

    flow: str
    stack: str
    start_s: float
    stop_s: float
    throughput_bps: float
    share: float | None
    retransmits: int | None
    smoothed_rtt_median_ms: float | None
    smoothed_rtt_p99_ms: float | None
    completion_s: float | None = None
    drops: int | None = None
    lost: int | None = None
    spurious: int | None = None
    resent: int | None = None
    rate_cov: float | None = None
    largest_fall: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return dataclasses.asdict(self)


def flows_of(record: Record) -> tuple[FlowSummary, ...]:
    """Summarise each flow of a record, those in the reverse direction last."""
    drops = flow_drops(record.readback, record.plan)
    return flow_summaries(record.samples, record.plan, completions_of(record), drops)


def flow_summaries(
    samples: Samples,
    plan: Plan,
    completions_s: Mapping[str, float | None] | None = None,
    drops: FlowDrops | None = None,
) -> tuple[FlowSummary, ...]:
    """Summarise each flow, those in the reverse direction last.

    ``completions_s``, ``drops``: by flow, as a record has them.
    """
    schedule = plan.schedule
    rows = {flow.name: _rows_of(samples, flow) for flow in schedule.all_flows}
    bits = {
        flow.name: flow_per_second(rows[flow.name], round(schedule.duration_s))
        for flow in schedule.all_flows
    }
    total_bits = sum(float(bits[flow.name].sum()) for flow in schedule.flows)
    # Records of the first format hold no stacks: all of theirs are kernel stacks
    silent = {one.label for one in plan.stacks if program_of(one).transport == UNKNOWN}
    others = {one.label for one in plan.stacks if program_of(one).counts_resent}
    summaries = (
        _summary(
            flow,
            rows[flow.name],
            bits[flow.name],
            total_bits if flow in schedule.flows else math.nan,
            flow.stack in silent,
            flow.stack in others,
        )
        for flow in schedule.all_flows
    )
    if not plan.transfer_bytes:
        summaries = (
            _with_smoothness(summary, bits[summary.flow], plan.path.rtt_ms) for summary in summaries
        )
    completions_s = completions_s or {}
    return tuple(
        _completed(summary, completion_s, plan.transfer_bytes)
        if (completion_s := completions_s.get(summary.flow))
        else summary
        for summary in (_with_drops(summary, drops) for summary in summaries)
    )


def spurious_of(flows: Iterable[FlowSummary]) -> int | None:
    """Return the spurious retransmissions of TCP's flows, together; None if one's are unknown."""
    counts = [flow.spurious for flow in flows if flow.resent is None]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def smoothed_rtts_ms(record: Record) -> Array:
    """Return the smoothed RTTs in ms that the senders of a run's flows had, of all flows together.

    They are those at the end of each interval. The length is the number of intervals in which a
    sender knew one: datagrams have none. Reverse flows are left out.
    """
    rows, schedule = record.samples.flows, record.plan.schedule
    if schedule.reverse:
        rows = rows[rows["flow"].isin([flow.name for flow in schedule.flows])]
    return _smoothed_rtts_ms(rows)


def median_ms(rtts_ms: Array) -> float | None:
    """Return the median of RTTs; None without any."""
    return float(np.median(rtts_ms)) if rtts_ms.size else None


def p99_ms(rtts_ms: Array) -> float | None:
    """Return the 99th percentile of RTTs; None without any."""
    return float(np.percentile(rtts_ms, 99)) if rtts_ms.size else None


def _smoothed_rtts_ms(rows: pd.DataFrame) -> Array:
    rtts_ms = rows["rtt_us"].to_numpy(dtype=np.float64) / 1e3
    known: Array = rtts_ms[rtts_ms > 0]
    return known


def _with_smoothness(summary: FlowSummary, bits: Array, rtt_ms: float) -> FlowSummary:
    from_s = summary.start_s + WARM_UP_FRACTION * (summary.stop_s - summary.start_s)
    starts_s = np.arange(bits.size)
    found = smoothness(bits[(starts_s >= from_s) & (starts_s + 1 <= summary.stop_s)], rtt_ms)
    return dataclasses.replace(summary, rate_cov=found.cov, largest_fall=found.largest_fall)


def _with_drops(summary: FlowSummary, drops: FlowDrops | None) -> FlowSummary:
    if drops is None:
        return summary
    dropped, lost = (
        None if counts is None else counts.get(summary.flow, 0)
        for counts in (drops.dropped, drops.lost)
    )
    taken = None if dropped is None or lost is None else dropped + lost
    spurious = (
        None
        if taken is None or summary.retransmits is None
        else max(0, summary.retransmits - taken)
    )
    return dataclasses.replace(summary, drops=dropped, lost=lost, spurious=spurious)


def _completed(summary: FlowSummary, completion_s: float, transfer_bytes: int) -> FlowSummary:
    throughput_bps = 8 * transfer_bytes / completion_s
    return dataclasses.replace(summary, completion_s=completion_s, throughput_bps=throughput_bps)


def _rows_of(samples: Samples, flow: Flow) -> pd.DataFrame:
    return samples.flows[samples.flows["flow"] == flow.name]


def _summary(
    flow: Flow,
    rows: pd.DataFrame,
    bits: Array,
    total_bits: float,
    may_be_silent: bool,
    is_no_tcp: bool,
) -> FlowSummary:
    """Summarise a flow.

    ``may_be_silent``: the program may not report retransmissions, so that 0 means unknown.
    ``is_no_tcp``: its program has a transport of its own, which counts what it sends again.
    """
    middles_s = np.arange(bits.size) + 0.5
    present = bits[(middles_s > flow.start_s) & (middles_s < flow.stop_s)]
    rtts_ms = _smoothed_rtts_ms(rows)
    retransmits = int(rows["retransmits"].sum())
    is_known = bool(retransmits) or not may_be_silent
    return FlowSummary(
        flow=flow.name,
        stack=flow.stack,
        start_s=flow.start_s,
        stop_s=flow.stop_s,
        throughput_bps=float(present.mean()) if present.size else 0.0,
        share=float(bits.sum()) / total_bits if total_bits > 0 else None,
        retransmits=retransmits if is_known and not is_no_tcp else None,
        resent=retransmits if is_no_tcp else None,
        smoothed_rtt_median_ms=median_ms(rtts_ms),
        smoothed_rtt_p99_ms=p99_ms(rtts_ms),
    )
