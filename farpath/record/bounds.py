"""Bounds: most rows of a plan's tables, so that no far larger table is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.mechanisms.trace import table as trace_table
from farpath.mechanisms.traffic import short_flow_table
from farpath.record import queue_table
from farpath.spec import trace
from farpath.spec.arrivals import MOST_SHORT_FLOWS

if TYPE_CHECKING:
    from farpath.spec.plan import Plan
    from farpath.spec.programs import Programs

#: Tables have at most two rows for each interval of the schedule, and this many more.
FACTOR, FURTHER_ROWS = 2, 1000


def most_rows(plan: Plan, table: str) -> int:
    """Return the most rows that a table of a run can have."""
    settings, flows = plan.settings, plan.schedule.all_flows
    duration_s = plan.schedule.duration_s + plan.grace_s
    if table == "flows":
        sent_s = sum(flow.stop_s - flow.start_s + plan.grace_s for flow in flows)
        return _most(sent_s / settings.flow_interval_s)
    if table == "ping":
        return _most(duration_s / settings.ping_interval_s)
    if table == trace_table.NAME:
        return _most(trace.MOST_TRACE_SAMPLES)
    if table == short_flow_table.NAME:
        return _most(MOST_SHORT_FLOWS)
    queues = len(queue_table.links_of(plan)) if table == queue_table.NAME else 1
    return _most(queues * duration_s / settings.sample_interval_s)


def most_program_rows(plan: Plan, programs: Programs) -> dict[str, int]:
    """Return the most rows that tables of programs can have; connections have no limit."""
    queue = _most(programs.timeout_s / plan.settings.sample_interval_s)
    return {
        "ping": _most(programs.timeout_s / plan.settings.ping_interval_s),
        "queue": queue,
        "queue_back": queue,
    }


def _most(rows: float) -> int:
    return round(FACTOR * rows) + FURTHER_ROWS
