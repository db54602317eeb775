"""Measures of stacks and parallel streams that the paper names and did not test."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.analysis.metrics import summarise
from farpath.analysis.studies.measure import Measure, RecordedRun
from farpath.spec.schedule import SEVEN_REGIONS

EXPERIMENT = "outlook"
MEAN = "mean throughput"
STABILITY = "S"
FAIRNESS = "F min"
RTT = "SD(RTT)"


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure mean, S and SD(RTT) of each run, and F min of the seven-region test.

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
        condition = f"{plan.path.title}, {request.stack}, {schedule}"
        measured += [
            Measure(EXPERIMENT, condition, name, unit, value, plan.seed, about=about)
            for name, unit, value in values
        ]
    return measured
