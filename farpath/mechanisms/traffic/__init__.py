"""Other traffic: on/off sources, and short TCP flows, beside the flows of the schedule."""

from __future__ import annotations

import math
from collections.abc import Iterator

from farpath.mechanisms.mechanism import Fact, Findings, Mechanism, Output
from farpath.mechanisms.traffic.checks import check_background, check_short_flows
from farpath.mechanisms.traffic.short_flow_table import from_raw
from farpath.spec.arrivals import arrivals_per_s, check_number
from farpath.spec.plan import Plan

#: Client and server of short flows, and what they write of each flow until they end, with what the
#: kernel keeps of it for a minute after its end (TIME_WAIT); measured: 60 MiB for 11,470 flows.
SHORT_FLOW_PROGRAMS_BYTES = 64 << 20
SHORT_FLOW_BYTES = 1 << 10


def memory_bytes(plan: Plan) -> int:
    """Return the memory of the programs of short flows."""
    if plan.path.short_flows is None:
        return 0
    flows = math.ceil(arrivals_per_s(plan) * plan.schedule.duration_s)
    return SHORT_FLOW_PROGRAMS_BYTES + SHORT_FLOW_BYTES * flows


def _words(plan: Plan) -> Iterator[str]:
    path = plan.path
    if path.background:
        yield f"background {path.background.mean_rate_bps / 1e6:.4g} Mbit/s"
    if path.short_flows:
        yield f"short flows {path.short_flows.rate_bps / 1e6:.4g} Mbit/s"


def _facts(plan: Plan) -> list[Fact]:
    traffic = plan.path.background or plan.path.short_flows or "none"
    return [Fact("other traffic", str(traffic), "background")]


def _examine(output: Output) -> Findings:
    check_background(output.readback, output.plan)
    table = from_raw(output.raw_dir, output.plan)
    unfinished = check_short_flows(table, output.readback, output.plan)
    return Findings(warnings=unfinished, parts=(table.part,) if table else ())


MECHANISM = Mechanism(
    order=20,
    check=check_number,
    memory_bytes=memory_bytes,
    words=_words,
    facts=_facts,
    examine=_examine,
)
