"""Checks of a finished run against its plan: a wrong result is worse than none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.mechanisms.mechanism import DOUBT
from farpath.platforms import platform_of
from farpath.programs.program import FlowOutput
from farpath.programs.registry import program_of, program_of_flow
from farpath.record.failed_flows import losses_of
from farpath.record.machine_health import judge, parse_samples, summarise_machine
from farpath.record.record import Samples
from farpath.spec.plan import Plan
from farpath.spec.protocol import LAG_FILE, MACHINE_FILE
from farpath.spec.schedule import Flow
from farpath.spec.sites import discards_payload
from farpath.tools import ping, tc, traceroute

#: The part of its first region after which a flow's beginning is late, and the round trips: iperf3
#: takes five before its first data, and the plan warns where these are long.
LATE, LATE_ROUND_TRIPS = 0.5, 10


def check_hops(output: str, plan: Plan) -> list[dict[str, Any]]:
    """Check the hops of the path to the receiver and return them as entries of the read-back.

    ``output``: of traceroute, before any traffic. A lossy path may lose all probes to the receiver,
    which has answered pings by then. Raises CheckFailedError if the hops are not the path's routers
    in their order and then the receiver.
    """
    hops = traceroute.parse(output)
    wanted = [*plan.path.hop_names, plan.schedule.flows[0].receiver]
    found = [str(hop) for hop in hops]
    if plan.path.loss and found[-1] == traceroute.NO_ANSWER:
        found[-1] = wanted[-1]
    if found != wanted:
        raise CheckFailedError(
            f"traceroute shows the hops {', '.join(found)}, not {', '.join(wanted)}"
        )
    return [
        {"name": name, "address": "".join(hop.addresses), "rtts_ms": list(hop.rtts_ms)}
        for name, hop in zip(wanted, hops, strict=True)
    ]


def check_programs(samples: Samples, raw_dir: FilePath, plan: Plan) -> None:
    """Raise CheckFailedError if a flow ran otherwise than its program was to run it."""
    for flow in plan.schedule.all_flows:
        stack = plan.stack_of(flow)
        rows = samples.flows[samples.flows["flow"] == flow.name]
        program_of(stack).check_flow(stack, rows, FlowOutput(raw_dir, flow), plan)


def check_flows(samples: Samples, raw_dir: FilePath, plan: Plan) -> list[str]:
    """Return a warning for each flow that others, or the losses of its way, have starved.

    A flow that others starve has sent, but its receiver has read nothing: it reads ``wake_bytes``
    at once. Raises CheckFailedError if a flow has no samples, or carried no bytes for another
    reason.
    """
    carried = samples.flows.groupby("flow")["throughput_bps"].sum()
    starved = []
    for flow in plan.schedule.all_flows:
        if carried.get(flow.name, 0.0) > 0.0:
            continue
        if flow.name in carried and (lost := losses_of(flow, plan)):
            starved.append(f"{flow.name} carried nothing: {lost}")
            continue
        if not (flow.name in carried and carried.sum() > 0.0 and _has_sent(flow, raw_dir, plan)):
            raise CheckFailedError(
                f"{flow.name} carried nothing: its packets or their acknowledgements were lost, "
                "`buffer` is too small, or `region` is only a few round trips long"
            )
        starved.append(
            f"{flow.name} was starved by the other flows: it sent, but of what arrived its "
            f"receiver, which reads {plan.settings.wake_bytes} bytes at once, has read nothing"
        )
    return starved


def late_flows(samples: Samples, plan: Plan) -> list[str]:
    """Return a warning for each flow that began later than its program and the path explain.

    That is after the middle of its first region and after ten round trips. A program whose first
    packets are lost begins late, and sends for as long as it was told to.
    """
    first = samples.flows.groupby("flow").first()
    regions = {region.start_s: region for region in plan.schedule.regions()}
    warnings = []
    for flow in plan.schedule.flows:
        row, region = first.loc[flow.name], regions[flow.start_s]
        late_s = row["t_s"] - row["interval_s"] - flow.start_s
        explained_s = LATE_ROUND_TRIPS * plan.pair_rtt_ms(flow.sender, flow.receiver) / 1e3
        if late_s > max(LATE * (region.stop_s - region.start_s), explained_s):
            warnings.append(
                f"{flow.name} began {late_s:.1f} s after its start, since the packets of its "
                f"beginning were lost or waited, and ended as late: region {region.number} and "
                "those in which flows end had other flows than the schedule says"
            )
    return warnings


def _has_sent(flow: Flow, raw_dir: FilePath, plan: Plan) -> bool:
    """Whether a flow's iperf3 has written a block to its connection."""
    if not discards_payload(plan, flow):
        return False
    intervals = program_of_flow(flow, plan).parse_sender(FlowOutput(raw_dir, flow).sender)
    return any(interval.bytes for interval in intervals)


def check_machine(raw_dir: FilePath, plan: Plan) -> tuple[dict[str, Any], list[str]]:
    """Check that the machine of a host lab kept up; return read-back entries and warnings.

    Both are empty for the virtual lab, whose results a slow machine does not change. Raises
    CheckFailedError with the reasons if the machine was too slow for the path, by the
    thresholds of ``farpath.record.machine_health``.
    """
    if not platform_of(plan).measures_cpu:
        return {}, []

    def text(name: str) -> str:
        try:
            return (raw_dir / name).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise LabFailedError(f"the lab left no {name} in {raw_dir}") from error

    summary = summarise_machine(
        plan.path,
        machine=parse_samples(text(MACHINE_FILE)),
        queue=tc.parse_samples(text("queue.txt")),
        lag=ping.parse(text(LAG_FILE)),
        pings=ping.parse(text("ping.out")),
        idle_before=ping.parse(text("ping-idle.out")),
        idle_after=ping.parse(text("ping-idle-after.out")),
        buffers=plan.pinged_bottlenecks,
    )
    judgement = judge(summary, plan.path, plan.pinged_bottlenecks)
    if judgement.failed:
        raise _too_slow([*judgement.failed, *judgement.poor])
    return {"machine": summary.as_dict()}, [f"{DOUBT}{reason}" for reason in judgement.poor]


def _too_slow(reasons: Sequence[str]) -> CheckFailedError:
    return CheckFailedError(
        f"this machine was too slow for the path: {'; '.join(reasons)}: "
        "leave it alone meanwhile, lower `rate`, or take `lab=virtual`"
    )


@contextmanager
def slow_machine_errors(doubts: Sequence[str]) -> Iterator[None]:
    """Report failures on an overloaded machine as the machine's fault.

    A program that gets too little CPU time skips intervals or never opens its window.
    ``doubts``: the warnings of ``check_machine``. Without any, errors pass unchanged; else
    CheckFailedError is raised with the error and the doubts.
    """
    try:
        yield
    except (LabFailedError, CheckFailedError) as error:
        if not doubts:
            raise
        reasons = [error.message, *(doubt.removeprefix(DOUBT) for doubt in doubts)]
        raise _too_slow(reasons) from error


def counted_flows(raw_dir: FilePath, plan: Plan) -> dict[str, Any]:
    """Return what programs counted of their flows, by entry of the read-back and by flow."""
    entries: dict[str, Any] = {}
    for flow in plan.schedule.all_flows:
        stack = plan.stack_of(flow)
        program = program_of(stack)
        if program.counted_as:
            of_entry = entries.setdefault(program.counted_as, {})
            of_entry[flow.name] = program.counted(stack, FlowOutput(raw_dir, flow))
    return entries


def sender_cpu(raw_dir: FilePath, plan: Plan, mhz: float | None) -> dict[str, Any]:
    """Return the CPU time of all sending programs, as an entry of the host lab's read-back.

    It is user and system time from getrusage(2); the paper took it from time(1)
    (section III.A). Empty if a program does not report it, and on the virtual lab, where
    CPU time is free or counted in part (docs/reference/limitations.md).
    """
    if mhz is None or not platform_of(plan).measures_cpu:
        return {}
    total_s = 0.0
    for flow in plan.schedule.flows:
        share = program_of_flow(flow, plan).parse_cpu_share(FlowOutput(raw_dir, flow).sender)
        if share is None:
            return {}
        total_s += share * (flow.stop_s - flow.start_s)
    return {"cpu": {"senders_s": round(total_s, 6), "mhz": mhz}}
