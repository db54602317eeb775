"""Measures of how flows of several stacks share one bottleneck."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.metrics.run import per_second, summarise
from farpath.metrics.sharing import halving_time_s, share_time_s
from farpath.record.record import Record
from farpath.runs.experiment import RecordedRun
from farpath.spec.schedule import JOINING

EXPERIMENT = "inter-protocol"
UTILISATION = "utilisation"
FRIENDLINESS = "part of a fair share left to Reno"
CONVERGENCE = "time to share"
RESPONSE = "time to halve for a newcomer"
FAIRNESS = "F of the last region"
#: The stack that others share the bottleneck with.
RENO = "reno_2004"


def friendliness(record: Record) -> float:
    """Return the mean of Reno's flows next to another stack, over an equal share."""
    flows = record.plan.schedule.flows
    means_bps = {flow.name: flow_metrics.mean_bps(record, flow.name) for flow in flows}
    reno_means_bps = [means_bps[flow.name] for flow in flows if flow.stack == RENO]
    if flows[0].stack == RENO:
        reno_means_bps = reno_means_bps[1:]
    return sum(reno_means_bps) / len(reno_means_bps) / (sum(means_bps.values()) / len(means_bps))


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure friendliness to Reno, sharing between two flows of a stack, and utilisation alone.

    Sharing is the time to share, the time to halve, and F. ``about``: ``stack`` as requested,
    ``schedule``, and ``reverse`` and ``reorder`` if given.
    """
    measured = []
    for recorded in runs:
        request, plan, record = recorded.run.request, recorded.run.plan, recorded.record
        about = {"stack": request.stack, "schedule": plan.schedule.name}
        reorder = f"{plan.path.reorder:g}" if plan.path.reorder else None
        optional = {"reverse": request.reverse, "reorder": reorder}
        about |= {option: value for option, value in optional.items() if value is not None}
        texts = [f"{option} {value}" for option, value in optional.items() if value is not None]
        condition = ", ".join([request.stack, *texts])
        for quantity, unit, value in _values(record):
            measured.append(
                Measure(EXPERIMENT, condition, quantity, unit, value, plan.seed, about=about)
            )
    return measured


def _values(record: Record) -> Sequence[tuple[str, str, float]]:
    plan = record.plan
    flows = plan.schedule.flows
    total_bps = sum(flow_metrics.mean_bps(record, flow.name) for flow in flows)
    utilisation = (
        UTILISATION,
        "",
        total_bps / flow_metrics.goodput_bps(plan),
    )
    if len(flows) == 1:
        return (utilisation,)
    if plan.schedule.name == JOINING:
        throughputs_bps = per_second(record.samples, record.plan.schedule)
        times_s = [
            find_time(throughputs_bps, record.plan.schedule)
            for find_time in (share_time_s, halving_time_s)
        ]
        shared_s, halved_s = (math.nan if time_s is None else time_s for time_s in times_s)
        fairness = summarise(record.samples, record.plan).regions[-1].fairness
        return (CONVERGENCE, "s", shared_s), (RESPONSE, "s", halved_s), (FAIRNESS, "", fairness)
    return (FRIENDLINESS, "", friendliness(record)), utilisation
