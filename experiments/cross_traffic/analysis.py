"""Measures of a Reno flow beside a third host's flow of another stack, and of short flows."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure, plain_title
from farpath.metrics.run import summarise
from farpath.metrics.short_flow import summarise_short_flows
from farpath.programs.program import NONE
from farpath.programs.registry import program_of
from farpath.record.record import Record
from farpath.runs.experiment import RecordedRun
from farpath.spec.plan import Plan

EXPERIMENT = "cross-traffic"
RENO = "throughput of Reno"
CROSS = "throughput of the third host"
RTT_MEAN, RTT_STD = "mean RTT", "SD(RTT)"
#: Completion times of the short flows of a class of sizes.
MEDIAN, P95, P99 = "median completion", "p95 completion", "p99 completion"
#: The words for a run without a third host, for short flows beside it, and for these by themselves.
NOTHING, SHORT_FLOWS, ALONE = "nothing", "short flows", "short flows alone"


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure both means after the run's first quarter, and the RTT over the whole run.

    ``about``: ``path``, and ``beside``, the third host's stack and ``SHORT_FLOWS``, or ``NOTHING``;
    ``ALONE`` for a run of short flows without Reno. Of the short flows of each class of sizes,
    percentiles of the completion times; ``about`` has ``sizes`` too, the class's title.
    """
    measured = []
    for recorded in runs:
        plan, record = recorded.run.plan, recorded.record
        beside = _beside(plan)
        long_flows = () if beside == ALONE else plan.schedule.flows
        values = [
            (CROSS if number else RENO, "Mbit/s", flow_metrics.mean_bps(record, flow.name) / 1e6)
            for number, flow in enumerate(long_flows)
        ]
        rtts_ms = record.samples.ping["rtt_ms"]
        values += [
            (RTT_MEAN, "ms", float(rtts_ms.mean())),
            (RTT_STD, "ms", summarise(record.samples, plan).rtt_std_ms),
        ]
        title = plain_title(plan.path)
        condition = f"{title}, {beside}" if beside == ALONE else f"{title}, beside {beside}"
        about = {"path": recorded.run.request.path or "", "beside": beside}
        measured += [
            Measure(EXPERIMENT, condition, name, unit, value, plan.seed, about=about)
            for name, unit, value in values
        ]
        measured += [
            Measure(
                *(EXPERIMENT, f"{condition}, those of {sizes}", name, "ms", value_ms, plan.seed),
                about={**about, "sizes": sizes},
            )
            for sizes, name, value_ms in _completions(record, plan)
        ]
    return measured


def _beside(plan: Plan) -> str:
    """Return what a run has beside its first flow, in words."""
    # A run has a flow: one of hardly any datagrams stands for none
    if program_of(plan.stack_of(plan.schedule.flows[0])).transport == NONE:
        return ALONE
    stacks = [flow.stack for flow in plan.schedule.flows[1:]]
    short = [SHORT_FLOWS] if plan.path.short_flows else []
    return " and ".join([*stacks, *short]) or NOTHING


def _completions(record: Record, plan: Plan) -> list[tuple[str, str, float]]:
    """Return class, quantity and ms of a run's completion times; empty without short flows."""
    if record.short_flows is None:
        return []
    return [
        (one.title, name, value_ms)
        for one in summarise_short_flows(record.short_flows, plan.schedule.duration_s).classes
        for name, value_ms in ((MEDIAN, one.median_ms), (P95, one.p95_ms), (P99, one.p99_ms))
        if value_ms is not None
    ]
