"""Program schedule: how long the schedule of a plan lasts whose hosts run a user's programs.

Its one flow does not run. Where a mechanism does something by the schedule's time, or until its
end, the schedule lasts as long as the client may; else its length says nothing.
"""

from __future__ import annotations

from dataclasses import replace

from farpath.spec.plan import Plan

#: Name of a schedule that begins with a client and lasts as long as the client may.
OF_CLIENT = "client"


def lasting(plan: Plan, duration_s: float, name: str = "") -> Plan:
    """Return a plan whose flows last for a time in s; ``name``: the schedule's, empty for as is."""
    flows = tuple(replace(flow, stop_s=duration_s) for flow in plan.schedule.flows)
    schedule = replace(plan.schedule, flows=flows, duration_s=duration_s, region_s=duration_s)
    return replace(plan, schedule=replace(schedule, name=name or schedule.name))


def has_client_schedule(plan: Plan) -> bool:
    """Whether a plan's schedule is that of a client, so that mechanisms may have devices."""
    return plan.schedule.name == OF_CLIENT
