"""Other traffic: on/off sources, and short TCP flows, beside the flows of the schedule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from farpath.base.errors import BadInputError
from farpath.base.options import TRAFFIC, Option, range_text
from farpath.mechanisms.mechanism import Fact, Findings, Mechanism, Output, PathSoFar, Texts
from farpath.mechanisms.traffic.sent_traffic import check_background, check_short_flows
from farpath.mechanisms.traffic.short_flow_table import TABLE, from_raw
from farpath.mechanisms.traffic.text import (
    other_traffic_text,
    parse_other_traffic,
    resolve_background,
    resolve_short_flows,
)
from farpath.spec.arrivals import arrivals_per_s, check_number
from farpath.spec.background import PART_RANGE
from farpath.spec.path import Path
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


def _apply(path: PathSoFar, given: Texts) -> Mapping[str, Any]:
    """Return the traffic that is given, or the path's, which keeps its fraction of the rate."""
    traffic = parse_other_traffic(given["background"]) if given else None
    background = traffic.background if traffic else None
    return {
        "background": resolve_background(path.base, path.rate_bps, background),
        "short_flows": resolve_short_flows(path.base, path.rate_bps, traffic),
    }


def _words(plan: Plan) -> Iterator[str]:
    path = plan.path
    if path.background:
        yield f"background {path.background.mean_rate_bps / 1e6:.4g} Mbit/s"
    if path.short_flows:
        yield f"short flows {path.short_flows.rate_bps / 1e6:.4g} Mbit/s"


def _line_words(path: Path) -> Iterator[str]:
    if path.background:
        yield f"cross-traffic {100 * path.background.mean_rate_bps / path.rate_bps:.3g} %"
    if path.short_flows:
        yield f"short flows {100 * path.short_flows.rate_bps / path.rate_bps:.3g} %"


def _facts(plan: Plan) -> list[Fact]:
    traffic = plan.path.background or plan.path.short_flows or "none"
    return [Fact("other traffic", str(traffic), "background")]


def _check(plan: Plan) -> None:
    """Raise BadInputError for more short flows than a run, or a client's longest run, can keep."""
    try:
        check_number(plan)
    except BadInputError as error:
        if not plan.programs:
            raise
        raise BadInputError(
            option="background",
            problem=error.problem,
            remedy="give a larger size, a lower rate or a shorter `timeout`",
        ) from error


def _examine(output: Output) -> Findings:
    check_background(output.readback, output.plan, output.duration_s)
    table = from_raw(output.raw_dir, output.plan, output.duration_s)
    unfinished = check_short_flows(table, output.readback, output.plan, output.duration_s)
    return Findings(warnings=unfinished, parts=(table.part,) if table else ())


MECHANISM = Mechanism(
    order=20,
    of_programs=True,
    lasts=lambda plan: bool(plan.path.background or plan.path.short_flows),
    options={
        "background": Option(
            "Other traffic: the fraction of the rate that it takes on average, none, its constant "
            "bit rate, or short TCP flows (tcp:10%); both kinds are joined by +.",
            "25%",
            "the path's, else none",
            "a fraction, or %",
            f"{range_text(PART_RANGE, '')}, cbr:RATE, tcp:...",
            see="how-to/traffic-and-losses.md#short-flows",
            group=TRAFFIC,
            after="loss",
            placeholder="TRAFFIC",
            common=True,
        )
    },
    apply_path=_apply,
    texts=lambda plan: {"background": other_traffic_text(plan.path)},
    check=_check,
    memory_bytes=memory_bytes,
    words=_words,
    line_words=_line_words,
    facts=_facts,
    examine=_examine,
    tables=(TABLE,),
)
