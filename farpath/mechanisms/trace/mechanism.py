"""Trace: the state of each TCP connection, recorded at an interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.base.options import Option, range_text
from farpath.mechanisms.mechanism import DOUBT, Findings, Mechanism, Output, Recorded, Texts
from farpath.mechanisms.quantities import TRACE_S
from farpath.mechanisms.trace.trace_table import TABLE, Trace, from_raw
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow, Schedule
from farpath.spec.trace import INTERVAL_S_RANGE, MOST_TRACE_SAMPLES, TICK_S, ticks, untraced
from farpath.spec.trace import flows as traced_flows

if TYPE_CHECKING:
    import pandas as pd

#: Fraction of the ticks that a trace may miss. A tick is missed while a program reads the
#: virtual clock in a loop, or when a machine in real time is late.
MISSED_TICKS_PART = 0.01


def _apply(plan: Plan, texts: Texts) -> Plan:
    interval_s = TRACE_S.parse(texts["trace"], "trace")
    return replace(plan, settings=replace(plan.settings, trace_interval_s=interval_s))


def _texts(plan: Plan) -> Texts:
    interval_s = plan.settings.trace_interval_s
    return {"trace": f"{interval_s * 1e3:g}ms"} if interval_s else {}


def check_interval(interval_s: float, schedule: Schedule) -> None:
    """Raise BadInputError for a trace's interval in s that is not allowed in a schedule.

    It must be whole milliseconds within ``INTERVAL_S_RANGE`` and give no more than
    ``MOST_TRACE_SAMPLES`` samples. It must be at most half of the shortest flow, so that each
    flow has a sample between its start and its end.
    """
    low, high = INTERVAL_S_RANGE
    steps = interval_s / TICK_S
    if not low <= interval_s <= high or not math.isclose(steps, round(steps), rel_tol=1e-9):
        raise BadInputError(
            option="trace",
            given=f"{interval_s * 1e3:g} ms",
            remedy=f"it must be whole milliseconds, from {low * 1e3:g} ms to {high:g} s",
        )
    shortest_s = min(flow.stop_s - flow.start_s for flow in schedule.all_flows)
    if interval_s > shortest_s / 2:
        raise BadInputError(
            option="trace",
            given=f"{interval_s:g} s",
            problem=f"that is more than half of the {shortest_s:g} s that a flow lasts",
            remedy="give a shorter `trace` or a longer `region`",
        )
    samples = sum(flow.stop_s - flow.start_s for flow in schedule.all_flows) / interval_s
    if samples > MOST_TRACE_SAMPLES:
        raise BadInputError(
            option="trace",
            given=f"{interval_s * 1e3:g} ms",
            problem=(
                f"it gives {samples:,.0f} samples of all flows, and at most "
                f"{MOST_TRACE_SAMPLES:,} are possible"
            ),
            remedy="give a longer `trace` or a shorter `region`",
        )


def check_plan(plan: Plan) -> None:
    """Raise BadInputError for a plan whose trace would be empty or too large."""
    if not plan.settings.trace_interval_s:
        return
    check_interval(plan.settings.trace_interval_s, plan.schedule)
    if not traced_flows(plan):
        stacks = ", ".join(dict.fromkeys(flow.stack for flow in plan.schedule.all_flows))
        raise BadInputError(
            option="trace",
            problem=(
                f"no flow uses the kernel's TCP ({stacks}), and a trace has the state "
                "of TCP connections only"
            ),
            remedy="leave `trace` out, or add a flow to `stack`",
        )


def check_trace(trace: Trace | None, flows: pd.DataFrame, plan: Plan) -> list[str]:
    """Check a run's trace; return warnings on flows without one and on ticks that were missed.

    ``flows``: the samples of flows. Raises CheckFailedError if there were fewer ticks than the
    schedule has, if too many were missed, or if a flow's acknowledged bytes do not match what its
    receiver read.
    """
    if trace is None:
        return []
    expected_ticks = ticks(plan.schedule.duration_s, plan.settings.trace_interval_s)
    warnings = untraced(plan)
    for host, passed in trace.ticks.items():
        missed = passed - trace.asked[host]
        if passed < expected_ticks or missed > MISSED_TICKS_PART * expected_ticks:
            raise CheckFailedError(
                f"the trace of {host} has {trace.asked[host]:,} of {passed:,} ticks, not "
                f"{expected_ticks:,}: take a longer `trace`"
            )
        if missed and not plan.settings.cpu_is_free:
            warnings.append(f"{DOUBT}the trace of {host} lacks {missed:,} of {passed:,} ticks")
    for flow in traced_flows(plan):
        _check_bytes(flow, trace, flows, plan)
    return warnings


def _check_bytes(flow: Flow, trace: Trace, flows: pd.DataFrame, plan: Plan) -> None:
    """Compare the bytes acknowledged to the sender's TCP with the bytes that the receiver read.

    A receiver that ends leaves up to a window unread, and the connection may end up to one
    interval after its last sample. Raises CheckFailedError for a larger difference.
    """
    rows = flows[flows["flow"] == flow.name]
    received = float((rows["throughput_bps"] * rows["interval_s"]).sum()) / 8
    acked = float(trace.frame.loc[trace.frame["flow"] == flow.name, "bytes_acked"].iloc[-1])
    rate, rtt_s = max(plan.path.rates_bps) / 8, max(plan.path.rtts_ms) / 1e3
    allowed = plan.path.window_bytes + rate * (plan.settings.trace_interval_s + rtt_s)
    if abs(acked - received) > allowed:
        raise CheckFailedError(
            f"the trace of {flow.name} ends with {acked / 1e6:.1f} MB acknowledged, but its "
            f"receiver took {received / 1e6:.1f} MB (within {allowed / 1e6:.1f} MB)"
        )


def _examine(output: Output) -> Findings:
    trace = from_raw(output.raw_dir, output.plan)
    missing = check_trace(trace, output.flows, output.plan)
    return Findings(warnings=missing, parts=(trace.part,) if trace else ())


def _lines(record: Recorded) -> Iterator[str]:
    if record.trace is not None:
        every_ms = record.plan.settings.trace_interval_s * 1e3
        yield f"trace       {len(record.trace):,} samples, one each {every_ms:g} ms"


MECHANISM = Mechanism(
    order=85,
    of_flows="the record has the states of all connections, at each `sample`",
    options={
        "trace": Option(
            "Interval at which the state of each TCP connection is recorded.",
            "10ms",
            "none",
            "whole milliseconds, a unit is needed",
            range_text(INTERVAL_S_RANGE, "s"),
            see="how-to/looking-inside.md#a-trace-of-each-connection",
            after="sender_image",
            placeholder="TIME",
            common=True,
        )
    },
    apply=_apply,
    texts=_texts,
    check=check_plan,
    examine=_examine,
    tables=(TABLE,),
    lines=_lines,
)
