"""Measures of stacks and parallel streams that the paper names and did not test."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure, plain_title
from farpath.metrics.run import summarise
from farpath.record.record import Record
from farpath.runs.experiment import RecordedRun
from farpath.spec.schedule import SEVEN_REGIONS

EXPERIMENT = "outlook"
MEAN = "mean throughput"
STABILITY = "S"
FAIRNESS = "F min"
RTT = "SD(RTT)"
SHARE = "part of a fair share of the one flow"
#: The stack that has parallel streams.
RENO = "reno_2004"


def share(record: Record) -> float | None:
    """Return the mean of the one flow of another stack than Reno over that of all flows, or None.

    None if all flows are Reno's, or none is. Means are after the run's first quarter.
    """
    flows = record.plan.schedule.flows
    others = [flow for flow in flows if flow.stack != RENO]
    if len(others) != 1 or len(flows) == 1:
        return None
    mean_bps = fmean(flow_metrics.mean_bps(record, flow.name) for flow in flows)
    return flow_metrics.mean_bps(record, others[0].name) / mean_bps


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure mean, S and SD(RTT) of each run, F min of the seven-region test, and ``share``.

    S is the coefficient of variation of the throughput of all flows together, F min the smallest of
    Jain's indices of regions with several flows, as in table 1 of the paper. ``about``: ``path``,
    ``stack`` as requested, ``schedule``.
    """
    measured = []
    for recorded in runs:
        plan, request = recorded.run.plan, recorded.run.request
        summary = summarise(recorded.record.samples, plan)
        schedule = plan.schedule.name
        about = {"path": request.path or "", "stack": request.stack, "schedule": schedule}
        values = [
            (MEAN, "Mbit/s", summary.mean_bps / 1e6),
            (STABILITY, "", summary.stability),
            (RTT, "ms", summary.rtt_std_ms),
        ]
        if schedule == SEVEN_REGIONS:
            values.append((FAIRNESS, "", summary.fairness_min))
        if (part := share(recorded.record)) is not None:
            values.append((SHARE, "", part))
        condition = f"{plain_title(plan.path)}, {request.stack}, {schedule}"
        measured += [
            Measure(EXPERIMENT, condition, name, unit, value, plan.seed, about=about)
            for name, unit, value in values
        ]
    return measured
