"""Measures of a Reno flow beside a third host's flow of another stack, and beside short flows."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.analysis import flow_metrics
from farpath.analysis.metrics import summarise
from farpath.analysis.short_flow_metrics import summarise_short_flows
from farpath.analysis.studies.measure import Measure, RecordedRun, plain_title
from farpath.record.record import Record
from farpath.spec.plan import Plan

EXPERIMENT = "cross-traffic"
RENO = "throughput of Reno"
CROSS = "throughput of the third host"
RTT_MEAN, RTT_STD = "mean RTT", "SD(RTT)"
#: Completion times of the smallest class of short flows.
COMPLETION, COMPLETION_P99 = "median completion of small flows", "p99 completion of small flows"
#: The words for a run without a third host, and for short flows beside it.
NOTHING, SHORT_FLOWS = "nothing", "short flows"


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure both means after the run's first quarter, and the RTT over the whole run.

    ``about``: ``path``, and ``beside``, the third host's stack and ``SHORT_FLOWS``, or ``NOTHING``.
    """
    measured = []
    for recorded in runs:
        plan, record = recorded.run.plan, recorded.record
        reno, *others = plan.schedule.flows
        beside = _beside(plan)
        values = [(RENO, "Mbit/s", flow_metrics.mean_bps(record, reno.name) / 1e6)]
        values += [
            (CROSS, "Mbit/s", flow_metrics.mean_bps(record, other.name) / 1e6) for other in others
        ]
        rtts_ms = record.samples.ping["rtt_ms"]
        values += [
            (RTT_MEAN, "ms", float(rtts_ms.mean())),
            (RTT_STD, "ms", summarise(record.samples, plan).rtt_std_ms),
        ]
        values += [(name, "ms", value_ms) for name, value_ms in _completions(record, plan)]
        condition = f"{plain_title(plan.path)}, beside {beside}"
        about = {"path": recorded.run.request.path or "", "beside": beside}
        measured += [
            Measure(EXPERIMENT, condition, name, unit, value, plan.seed, about=about)
            for name, unit, value in values
        ]
    return measured


def _beside(plan: Plan) -> str:
    """Return what a run has beside its first flow, in words."""
    stacks = [flow.stack for flow in plan.schedule.flows[1:]]
    short = [SHORT_FLOWS] if plan.path.short_flows else []
    return " and ".join([*stacks, *short]) or NOTHING


def _completions(record: Record, plan: Plan) -> list[tuple[str, float]]:
    """Return the completion times in ms of a run's smallest short flows; empty without any."""
    if record.short_flows is None:
        return []
    small = summarise_short_flows(record.short_flows, plan).classes[0]
    if small.median_ms is None or small.p99_ms is None:
        return []
    return [(COMPLETION, small.median_ms), (COMPLETION_P99, small.p99_ms)]
