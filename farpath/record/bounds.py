"""Bounds: most rows of a plan's tables, so that no far larger table is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.record.queue_table import further_tables

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
    if further := further_tables().get(table):
        return _most(further.rows(plan))
    return _most(duration_s / settings.sample_interval_s)


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
