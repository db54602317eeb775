"""Synthetic records of a lesson's runs: windows and throughputs that a test gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any

import pandas as pd

from farpath.mechanisms.trace.trace_table import COLUMNS, Trace
from farpath.planning.request import RunRequest
from farpath.record.queue_table import QueueTable
from farpath.record.record import Record, Samples, typed_frame, write_record
from farpath.spec.plan import Plan

#: Between two samples, and two rows of a trace.
STEP_S = 0.1
#: Of time in seconds and a flow's number from 0.
Curve = Callable[[float, int], float]


def plan_of(**options: str) -> Plan:
    """The plan of a run of ``farpath run``, with a sample each tenth of a second."""
    return RunRequest(**{"sample": "100ms", **options}).plan()


def write_lesson_run(
    record_dir: FilePath,
    plan: Plan,
    window_packets: Curve = lambda _t_s, _flow: 10.0,
    throughput_mbps: Curve = lambda _t_s, _flow: 1.0,
    rtt_ms: Curve = lambda _t_s, _flow: 50.0,
    trace: pd.DataFrame | None = None,
    queues: QueueTable | None = None,
    found: Mapping[str, Any] | None = None,
) -> Record:
    """A record whose flows have these curves.

    ``trace``: rows of the first flow. ``found``: findings of mechanisms, in the read-back.
    """
    times_s = [STEP_S * step for step in range(1, round(plan.schedule.duration_s / STEP_S) + 1)]
    flows = [
        (flow.name, t_s, STEP_S, 1e6 * throughput_mbps(t_s, number),
         1e6 * throughput_mbps(t_s, number), 0, round(1448 * window_packets(t_s, number)), 10**7,
         round(1e3 * rtt_ms(t_s, number)))
        for number, flow in enumerate(plan.schedule.flows)
        for t_s in times_s
    ]  # fmt: skip
    samples = Samples(
        typed_frame("flows", flows),
        typed_frame("ping", [(float(second), plan.path.rtt_ms) for second in range(5)]),
        typed_frame("queue", [(t_s, 0, 0, 0) for t_s in times_s]),
    )
    raw = record_dir.parent / ".raw"
    raw.mkdir(parents=True, exist_ok=True)
    parts = [queues.part] if queues else []
    if trace is not None:
        parts.append(Trace(_whole(trace, plan), {}, {}).part)
    made = {"kernel": {"release": "7.2.1"}}
    readback: dict[str, Any] = {"before": {}, "after": {}, **(found or {})}
    return write_record(record_dir, plan, samples, made, readback, [], raw, parts)


def _whole(rows: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """A trace's rows with all columns, zero and open where a test gives none."""
    frame = pd.DataFrame(0, index=range(len(rows)), columns=list(COLUMNS))
    frame["flow"], frame["ca_state"] = plan.schedule.flows[0].name, "open"
    for name in rows.columns:
        frame[name] = rows[name].to_numpy()
    return frame
