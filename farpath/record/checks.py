"""Checks of a finished run against its plan: a wrong result is worse than none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.mechanisms.trace.table import Trace
from farpath.mechanisms.traffic.short_flow_table import ShortFlowTable
from farpath.platforms import platform_of
from farpath.programs.program import Output
from farpath.programs.registry import program_of
from farpath.record.lossy_ways import losses_of
from farpath.record.machine_health import judge, parse_samples, summarise_machine
from farpath.record.record import Samples
from farpath.spec.arrivals import arrivals, frames_bytes, own_bytes
from farpath.spec.background import on_periods, sent_bytes
from farpath.spec.plan import Plan
from farpath.spec.protocol import LAG_FILE, MACHINE_FILE
from farpath.spec.schedule import Flow
from farpath.spec.sites import discards_payload
from farpath.spec.trace import flows as traced_flows
from farpath.spec.trace import ticks, untraced
from farpath.tools import iperf3, ping, socat, tc, traceroute

#: Tolerance of background traffic, as a fraction, in addition to what ``check_background``
#: counts.
BACKGROUND_OFF = 0.01
#: How much later than planned a short flow may start, by clock, in s. On the clocks on which the
#: lab's programs take time they wait for each other.
SHORT_FLOW_LATE_S = {"virtual": 1e-3, "cpu": 0.25, "wall": 0.25}
#: Tolerance of the frames of short flows, as a fraction: the kernel's last segment may carry the
#: end of a connection, which is counted as a frame of its own.
SHORT_FLOW_FRAMES_OFF = 0.01
#: Frames of a server for each flow above what it offers, each as an acknowledgement or an end
#: that was sent again.
SHORT_FLOW_EXTRA_FRAMES = 2
#: Frames that a source of the kernel module may send in an on period above its rate.
MODULE_FRAMES = 3
#: Packets that fq lets a socket send beyond its rate: when it starts, and when it continues
#: after a pause (initial_quantum and quantum in fq_init, net/sched/sch_fq.c).
FQ_FIRST_PACKETS, FQ_PACKETS = 10, 2
#: Fraction of the ticks that a trace may miss. A tick is missed while a program reads the
#: virtual clock in a loop, or when a machine in real time is late.
MISSED_TICKS_PART = 0.01
#: Prefix of warnings about the machine, in contrast to the path.
DOUBT = "slow machine: "


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
        program_of(stack).check_flow(stack, rows, Output(raw_dir, flow), plan)


def check_background(readback: Mapping[str, Any], plan: Plan) -> None:
    """Raise CheckFailedError if the amount of background traffic is not the path's.

    In the virtual lab the kernel's sources begin each on period with a frame and are switched off
    some readings of the clock late, so ``MODULE_FRAMES`` more are possible.

    On the host lab a source may send more than its on periods allow: when it is stopped, its
    socket still sends what it holds (farpath.tools.socat). That happens at the end of each on
    period, and once before the first, since the source fills its socket as it starts. fq lets
    some more packets through at once. A source may send less by at most one datagram for each on
    period. In a run with few on periods, or none, these are more than one per cent.
    """
    background = plan.path.background
    if background is None:
        return
    duration_s = plan.schedule.duration_s
    expected_bytes = sent_bytes(background, plan.seed, duration_s)
    periods = len(on_periods(background, plan.seed, duration_s))
    sent = readback["after"]["background_bytes"] - readback["before"]["background_bytes"]
    frame_bytes = plan.path.frame_bytes
    if platform_of(plan).boots_kernel:
        slack = periods * MODULE_FRAMES * frame_bytes
        _check_amount(sent, expected_bytes, expected_bytes - slack, expected_bytes + slack)
        return
    datagram = socat.datagram_packets(background.rate_bps, plan.path.mtu_bytes, plan.ip_version)
    queued_packets = socat.SOCKET_DATAGRAMS * datagram
    excess = background.sources * (queued_packets + FQ_FIRST_PACKETS) + periods * (
        queued_packets + FQ_PACKETS
    )
    fewest = expected_bytes * (1 - BACKGROUND_OFF) - periods * datagram * frame_bytes
    most = expected_bytes * (1 + BACKGROUND_OFF) + excess * frame_bytes
    _check_amount(sent, expected_bytes, fewest, most)


def _check_amount(sent: float, expected_bytes: float, fewest: float, most: float) -> None:
    if not fewest <= sent <= most:
        raise CheckFailedError(
            f"background traffic was {sent / 1e6:.2f} MB, not {expected_bytes / 1e6:.2f} MB "
            f"(its sources can send {max(0.0, fewest) / 1e6:.2f} to {most / 1e6:.2f} MB)"
        )


def check_short_flows(
    table: ShortFlowTable | None, readback: Mapping[str, Any], plan: Plan
) -> list[str]:
    """Check short flows against the plan; return a warning if most did not end.

    Each flow that the plan draws must have started at its time and asked for its size, by the
    congestion control of the plan. Bytes that arrived must have left the server's port in frames,
    and the port must not have sent more than the server offered and repeated. Raises
    CheckFailedError otherwise.
    """
    short = plan.path.short_flows
    if table is None or short is None:
        return []
    frame, drawn = table.frame, list(arrivals(plan))
    started = frame["number"].tolist()
    if started != [arrival.number for arrival in drawn]:
        raise CheckFailedError(
            f"{len(started):,} short flows have started, and the plan has {len(drawn):,}"
        )
    late_s = max(
        (
            start_s - arrival.start_s
            for start_s, arrival in zip(frame["start_s"], drawn, strict=True)
        ),
        default=0.0,
    )
    if late_s > SHORT_FLOW_LATE_S[plan.settings.clock]:
        raise CheckFailedError(
            f"short flows started up to {late_s:.3f} s late: their client had too little time; "
            "lower their rate, or give them a larger size"
        )
    if set(table.congestion) - {short.congestion}:
        raise CheckFailedError(
            f"short flows ran congestion control {' and '.join(table.congestion)}, not "
            f"{short.congestion}"
        )
    _check_short_flow_frames(frame, readback, plan)
    unfinished = int(frame["completion_s"].isna().sum())
    if unfinished > len(frame) / 2:
        return [f"{unfinished:,} of {len(frame):,} short flows had not ended with the schedule"]
    return []


def _check_short_flow_frames(frame: Any, readback: Mapping[str, Any], plan: Plan) -> None:
    sent = readback["after"]["short_flow_bytes"] - readback["before"]["short_flow_bytes"]
    arrived = int(frame["received_bytes"].sum())
    offered = sum(frames_bytes(plan, size_bytes) for size_bytes in frame["size_bytes"])
    extra = SHORT_FLOW_EXTRA_FRAMES * own_bytes(plan) * len(frame)
    most = offered * (1 + SHORT_FLOW_FRAMES_OFF) + extra
    most += int(frame["retransmits"].sum()) * plan.path.frame_bytes
    if not arrived <= sent <= most:
        raise CheckFailedError(
            f"the server of short flows sent {sent / 1e6:.3f} MB in frames: {arrived / 1e6:.3f} MB "
            f"arrived of {offered / 1e6:.3f} MB that were asked for"
        )


def check_trace(trace: Trace | None, samples: Samples, plan: Plan) -> list[str]:
    """Check a run's trace; return warnings on flows without one and on ticks that were missed.

    Raises CheckFailedError if there were fewer ticks than the schedule has, if too many were
    missed, or if a flow's acknowledged bytes do not match what its receiver read.
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
                f"{expected_ticks:,}: take a longer TRACE"
            )
        if missed and not plan.settings.cpu_is_free:
            warnings.append(f"{DOUBT}the trace of {host} lacks {missed:,} of {passed:,} ticks")
    for flow in traced_flows(plan):
        _check_bytes(flow, trace, samples, plan)
    return warnings


def _check_bytes(flow: Flow, trace: Trace, samples: Samples, plan: Plan) -> None:
    """Compare the bytes acknowledged to the sender's TCP with the bytes that the receiver read.

    A receiver that ends leaves up to a window unread, and the connection may end up to one
    interval after its last sample. Raises CheckFailedError for a larger difference.
    """
    rows = samples.flows[samples.flows["flow"] == flow.name]
    received = float((rows["throughput_bps"] * rows["interval_s"]).sum()) / 8
    acked = float(trace.frame.loc[trace.frame["flow"] == flow.name, "bytes_acked"].iloc[-1])
    rate, rtt_s = max(plan.path.rates_bps) / 8, max(plan.path.rtts_ms) / 1e3
    allowed = plan.path.window_bytes + rate * (plan.settings.trace_interval_s + rtt_s)
    if abs(acked - received) > allowed:
        raise CheckFailedError(
            f"the trace of {flow.name} ends with {acked / 1e6:.1f} MB acknowledged, but its "
            f"receiver took {received / 1e6:.1f} MB (within {allowed / 1e6:.1f} MB)"
        )


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
                "BUFFER is too small, or REGION is only a few round trips long"
            )
        starved.append(
            f"{flow.name} was starved by the other flows: it sent, but of what arrived its "
            f"receiver, which reads {plan.settings.wake_bytes} bytes at once, has read nothing"
        )
    return starved


def _has_sent(flow: Flow, raw_dir: FilePath, plan: Plan) -> bool:
    """Whether a flow's iperf3 has written a block to its connection."""
    if not discards_payload(plan, flow):
        return False
    intervals = iperf3.parse_sender((raw_dir / f"{flow.name}-sender.out").read_text())
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
        "leave it alone meanwhile, lower RATE, or take LAB=virtual"
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
            of_entry[flow.name] = program.counted(stack, Output(raw_dir, flow))
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
        share = iperf3.parse_cpu_share((raw_dir / f"{flow.name}-sender.out").read_text())
        if share is None:
            return {}
        total_s += share * (flow.stop_s - flow.start_s)
    return {"cpu": {"senders_s": round(total_s, 6), "mhz": mhz}}
