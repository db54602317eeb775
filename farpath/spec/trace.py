"""Trace: which flows' state each sending host's kernel is asked for, and when.

Plain data, shared by host and guest. The first tick is at the schedule's start.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpath.spec.schedule import Flow
from farpath.spec.stack import IPERF3

if TYPE_CHECKING:
    from farpath.spec.plan import Plan

#: Ticks lie on whole milliseconds, at which the guest's kernel has a tick of its own (HZ is
#: 1000), so that a timer more is no further moment at which anything can happen.
TICK_S = 0.001
INTERVAL_S_RANGE = (TICK_S, 10.0)
#: Of all flows together: while a record is made each takes some 600 bytes of memory.
MOST_SAMPLES = 2_500_000
#: What tracers leave among a run's raw output ends so. Its samples are all in the table;
#: compressed beside it they would take twice as much again.
SUFFIX = ".trace"


def interval_ns(interval_s: float) -> int:
    """An interval in ns.

    >>> interval_ns(0.01)
    10000000
    """
    return round(interval_s / TICK_S) * 1_000_000


def ticks(duration_s: float, interval_s: float) -> int:
    """How many ticks a schedule has: the first at its start, the last not after its end.

    >>> ticks(8.0, 0.01), ticks(1.0, 0.003)
    (801, 334)
    """
    return round(duration_s * 1e9) // interval_ns(interval_s) + 1


def first_tick(at_s: float, interval_s: float) -> int:
    """The first tick that is not before a time of the schedule.

    >>> first_tick(2.0, 0.01), first_tick(0.0101, 0.01)
    (200, 2)
    """
    return -(-round(at_s * 1e9) // interval_ns(interval_s))


def flows(plan: Plan) -> list[Flow]:
    """The flows that a plan traces: those of the kernel's TCP; none without an interval."""
    if not plan.settings.trace_interval_s:
        return []
    return [flow for flow in plan.schedule.all_flows if plan.stack_of(flow).program == IPERF3]


def hosts(plan: Plan) -> list[str]:
    """The hosts whose kernel is asked."""
    return list(dict.fromkeys(flow.sender for flow in flows(plan)))


def untraced(plan: Plan) -> list[str]:
    """A sentence for each flow that has no trace although others have."""
    traced = flows(plan)
    return [
        f"{flow.name} has no trace: {flow.stack} is none of the kernel's TCP"
        for flow in plan.schedule.all_flows
        if traced and flow not in traced
    ]


@dataclass(frozen=True)
class TracerConfig:
    """What a tracer is to do.

    ``flows``: ports with the first and the last tick at which a connection to them may
    appear. ``family``: of addresses. ``last_in_line``: it waits at each moment until nothing
    else has anything to do, which on the virtual clock takes no time.
    """

    interval_ns: int
    flows: tuple[tuple[int, int, int], ...]
    file: str
    family: int
    last_in_line: bool

    def to_json(self) -> bytes:
        """One line, without its end."""
        return json.dumps(dataclasses.asdict(self)).encode()

    @classmethod
    def from_json(cls, line: bytes) -> TracerConfig:
        """The inverse of :meth:`to_json`."""
        data = json.loads(line)
        return cls(**{**data, "flows": tuple(tuple(flow) for flow in data["flows"])})


def tracer_config(
    plan: Plan, traced: Sequence[Flow], file: str, family: int, last_in_line: bool
) -> TracerConfig:
    """The orders of the tracer of a host, from which some flows are sent."""
    interval_s = plan.settings.trace_interval_s
    moments = tuple(
        (flow.port, first_tick(flow.start_s, interval_s), first_tick(flow.stop_s, interval_s))
        for flow in traced
    )
    return TracerConfig(
        interval_ns=interval_ns(interval_s),
        flows=moments,
        file=file,
        family=family,
        last_in_line=last_in_line,
    )
