"""Trace: which TCP connections a run samples, and at which ticks.

The first tick is at the schedule's start.
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

#: Resolution of the interval in s. Ticks are at whole milliseconds, at which the guest's kernel
#: has its own tick (HZ is 1000), so that the trace's timer adds no further event.
TICK_S = 0.001
INTERVAL_S_RANGE = (TICK_S, 10.0)
#: Most samples of all flows together; each takes some 600 bytes while a record is made.
MOST_TRACE_SAMPLES = 2_500_000
#: Suffix of the tracers' raw files. Records leave them out: the table has all of their samples,
#: and compressed they would take twice its size.
SUFFIX = ".trace"


def interval_ns(interval_s: float) -> int:
    """Convert an interval to ns, rounded to ``TICK_S``.

    >>> interval_ns(0.01)
    10000000
    """
    return round(interval_s / TICK_S) * 1_000_000


def ticks(duration_s: float, interval_s: float) -> int:
    """Return how many ticks a schedule has, the first at its start, none after its end.

    >>> ticks(8.0, 0.01), ticks(1.0, 0.003)
    (801, 334)
    """
    return round(duration_s * 1e9) // interval_ns(interval_s) + 1


def first_tick(at_s: float, interval_s: float) -> int:
    """Return the number of the first tick at or after a time of the schedule.

    >>> first_tick(2.0, 0.01), first_tick(0.0101, 0.01)
    (200, 2)
    """
    return -(-round(at_s * 1e9) // interval_ns(interval_s))


def flows(plan: Plan) -> list[Flow]:
    """Return the flows that a plan traces: those of the kernel's TCP, if it has an interval."""
    if not plan.settings.trace_interval_s:
        return []
    return [flow for flow in plan.schedule.all_flows if plan.stack_of(flow).program == IPERF3]


def hosts(plan: Plan) -> list[str]:
    """Return the hosts that run a tracer."""
    return list(dict.fromkeys(flow.sender for flow in flows(plan)))


def untraced(plan: Plan) -> list[str]:
    """Return a warning for each flow without a trace in a plan that traces others."""
    traced = flows(plan)
    return [
        f"{flow.name} has no trace: {flow.stack} is none of the kernel's TCP"
        for flow in plan.schedule.all_flows
        if traced and flow not in traced
    ]


@dataclass(frozen=True)
class TracerConfig:
    """Configuration of a tracer.

    ``interval_ns``: time between ticks. ``flows``: for each flow its port and the first and
    last tick at which its connection may appear. ``file``: output file. ``family``: address
    family. ``last_in_line``: run the tracer only when no other process is runnable, which
    takes no time on the virtual clock.
    """

    interval_ns: int
    flows: tuple[tuple[int, int, int], ...]
    file: str
    family: int
    last_in_line: bool

    def to_json(self) -> bytes:
        """Return the configuration as one line of JSON, without a newline."""
        return json.dumps(dataclasses.asdict(self)).encode()

    @classmethod
    def from_json(cls, line: bytes) -> TracerConfig:
        """Build a configuration from the output of ``to_json``."""
        data = json.loads(line)
        return cls(**{**data, "flows": tuple(tuple(flow) for flow in data["flows"])})


def tracer_config(
    plan: Plan, traced: Sequence[Flow], file: str, family: int, last_in_line: bool
) -> TracerConfig:
    """Return the configuration of the tracer of the host that sends the flows ``traced``."""
    interval_s = plan.settings.trace_interval_s
    flow_ticks = tuple(
        (flow.port, first_tick(flow.start_s, interval_s), first_tick(flow.stop_s, interval_s))
        for flow in traced
    )
    return TracerConfig(
        interval_ns=interval_ns(interval_s),
        flows=flow_ticks,
        file=file,
        family=family,
        last_in_line=last_in_line,
    )
