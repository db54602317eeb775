"""Measures of BBR in the example test cases of its draft, by rates, queue and drops of the path.

The cases are those of draft-ietf-ccwg-bbr (August 2026), appendix "BBR Example Test Cases", that
need nothing of a sender's state, so that any implementation can be held against them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from farpath.metrics import flow as flow_metrics
from farpath.metrics.change_responses import answers_of
from farpath.metrics.measures import Measure
from farpath.record.record import Record
from farpath.runs.experiment import RecordedRun
from farpath.spec.plan import Plan

EXPERIMENT = "bbr-cases"
STARTUP, RISE, FALL = "exit of STARTUP", "bandwidth x 10", "bandwidth / 10"
SUB_PACKET, POLICER, REORDERING = "sub-packet BDP", "shallow buffer", "reordering"
LOSS = "random loss"
UTILISATION, QUEUE, LOSS_RATE = "utilisation", "median queue", "loss rate"
RECOVERY, STABILISATION = "time to 90 %", "time until losses have settled"
#: Time in s after which a flow has left STARTUP: 25 of its round trips.
STARTED_S = 1.0
#: How long after a change of the rate its flow has to be settled, in s: two windows of the largest
#: bandwidth, of two cycles of at most 5 s each (BBR.MaxBwFilterLen).
SETTLED_S = 20.0
#: A buffer below this many bandwidth-delay products holds no probe of BBR.
SHALLOW_BDP = 0.5


def case_of(plan: Plan) -> str:
    """Return the case that a run is of."""
    path = plan.path
    if changes := plan.rates.changes:
        return RISE if changes[0][1] > plan.rates.values[0] else FALL
    if path.bdp_bytes < path.frame_bytes:
        return SUB_PACKET
    if path.buffer_bytes < SHALLOW_BDP * path.bdp_bytes:
        return POLICER
    if path.reorder:
        return REORDERING
    return f"{LOSS} {100 * path.loss:g} %" if path.loss else STARTUP


def _measured(record: Record, from_s: float) -> Iterator[tuple[str, str, float, float | None]]:
    """Yield utilisation and median queue from a time on, each with its unit and theory."""
    plan = record.plan
    used = flow_metrics.mean_bps(record, from_s=from_s) / flow_metrics.goodput_bps(plan, from_s)
    yield UTILISATION, "", used, 1.0
    queue = record.samples.queue
    backlog = queue.loc[queue["t_s"] > from_s, "backlog_bytes"]
    yield QUEUE, "ms", 8e3 * float(np.median(backlog)) / plan.rates.at(from_s), None


def _loss_rate(record: Record, from_s: float) -> float:
    """Return the part of the packets that the queue drops from a time on."""
    queue, plan = record.samples.queue, record.plan
    drops = queue["drops"].iloc[-1] - queue.loc[queue["t_s"] >= from_s, "drops"].iloc[0]
    payload = flow_metrics.payload_bytes(plan.path, plan.ip_version)
    lasting_s = plan.schedule.duration_s - from_s
    passed = flow_metrics.mean_bps(record, from_s=from_s) * lasting_s / 8 / payload
    return float(drops / (drops + passed))


def values_of(record: Record) -> list[tuple[str, str, float, float | None]]:
    """Return the quantities of a run's case, each with its unit, value and theory."""
    plan = record.plan
    case = case_of(plan)
    if case in (RISE, FALL):
        (answer,) = answers_of(record)
        later = [*_measured(record, plan.rates.changes[0][0] + SETTLED_S)]
        if case == RISE:
            return [(RECOVERY, "s", _or_nan(answer.recovered_s), None), *later]
        return [(STABILISATION, "RTT", _or_nan(answer.stabilised_rtts), None), *later]
    if case == STARTUP:
        return [*_measured(record, STARTED_S)]
    from_s = flow_metrics.warm_up_end_s(record)
    values = [*_measured(record, from_s)]
    if case == POLICER:
        values.append((LOSS_RATE, "", _loss_rate(record, from_s), None))
    return values


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure each run by its case.

    ``about``: ``case``, and ``stack`` as requested.
    """
    measured = []
    for recorded in runs:
        plan = recorded.run.plan
        about = {"case": case_of(plan), "stack": recorded.run.request.stack or ""}
        condition = f"{about['case']}, {about['stack']}"
        measured += [
            Measure(EXPERIMENT, condition, name, unit, value, plan.seed, theory, about=about)
            for name, unit, value, theory in values_of(recorded.record)
        ]
    return measured
