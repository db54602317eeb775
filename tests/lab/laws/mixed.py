"""Flows that come and go, each with a stack of its own, on one path."""

from __future__ import annotations

import dataclasses
from typing import Any

import pandas as pd

from farpath.mechanisms.era.mechanism import era_by_text
from farpath.planning.planner import make_plan
from farpath.record.record import Record
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow, Schedule

from .responses import PAYLOAD_BYTES


@dataclasses.dataclass(frozen=True)
class Visit:
    """One flow: what it runs, and from when to when."""

    stack: str
    start_s: float
    stop_s: float


def plan_of(path: Path, visits: list[Visit], **settings: Any) -> Plan:
    """A plan of these flows, called flow1, flow2, ..., on today's hosts."""
    flows = tuple(
        Flow(f"flow{k}", "sender", "receiver", visit.stack, visit.start_s, visit.stop_s, 5200 + k)
        for k, visit in enumerate(visits, 1)
    )
    duration_s = max(visit.stop_s for visit in visits)
    schedule = Schedule("visits", flows, duration_s, duration_s)
    plan = make_plan(path, schedule, 1, "virtual", era_by_text("modern"))
    return dataclasses.replace(plan, settings=dataclasses.replace(plan.settings, **settings))


def rows_of(record: Record, flow: str, from_s: float, to_s: float) -> pd.DataFrame:
    """A flow's samples within a time, with ``cwnd`` in packets.

    The last sample of a flow, of less than an interval, has no window and is left out.
    """
    rows = record.samples.flows
    rows = rows[(rows["flow"] == flow) & (rows["cwnd_bytes"] > 0)]
    rows = rows[(rows["t_s"] > from_s) & (rows["t_s"] <= to_s)]
    return rows.assign(cwnd=rows["cwnd_bytes"] / PAYLOAD_BYTES).reset_index(drop=True)
