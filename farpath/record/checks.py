"""Checks of a run against what was asked: a wrong result is worse than none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from statistics import median
from typing import Any

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.record.machine_health import judge, parse_samples, summarise_machine
from farpath.record.record import Samples
from farpath.record.trace_table import Trace
from farpath.spec.background import on_periods, sent_bytes
from farpath.spec.dropping import horizon_packets
from farpath.spec.hosts import PINGER, RECEIVER
from farpath.spec.plan import Plan
from farpath.spec.protocol import LAG_FILE, MACHINE_FILE
from farpath.spec.schedule import Flow
from farpath.spec.settings import HOST
from farpath.spec.stack import IPERF3
from farpath.spec.trace import flows as traced_flows
from farpath.spec.trace import ticks, untraced
from farpath.spec.window import segment_bytes, window_of
from farpath.tools import iperf3, ping, socat, tc

#: How far the idle path's median RTT may lie from the path's, by clock, in ms.
#: Virtual: guest timers count 256 ns, one each way and one to read the clock, and
#: ping prints microseconds. The others spend time on work, in the kernel and, on
#: the wall clock, in whatever else the machine does.
RTT_TOLERANCE_MS = {"virtual": 0.0015, "cpu": 5.0, "wall": 25.0}
#: How late a timer of the virtual clock is: it counts so much.
TIMER_MS = 256e-6
#: The first ping waits for Open vSwitch to learn the way, up to 16 us when this was written:
#: of fewer pings than this it may be the median.
MEDIAN_PINGS = 3
FIRST_PING_MS = 0.05
#: A ping that overtakes others has no delay on its way there, half of its RTT; one above this
#: part of it did not.
OVERTAKING = 0.75
#: What ping sends without a size: 56 bytes of data, headers of ICMP, IP (6) and Ethernet.
PING_FRAME_BYTES = 56 + 8 + 40 + 14
#: A window may exceed what was asked by one in a hundred: the kernel rounds its
#: scale to 1/256 and the advertised window to its window scale. It may stay a tenth
#: below: a lossy path keeps part of the buffer filled with data out of order. And it may
#: lack two segments more: an ACK leaves with the second (RFC 5681, 4.2), before the program
#: has read either.
WINDOW_EXCESS = 0.01
WINDOW_SHORTFALL = 0.1
UNREAD_SEGMENTS = 2
#: A flow that carried so many windows has certainly been offered the whole one.
WINDOWS_TO_OPEN = 20
#: How far background traffic may be off, beside what is counted by :func:`check_background`.
BACKGROUND_OFF = 0.01
#: What fq lets a socket send beyond its rate, in packets: when it begins, and when it goes on
#: after a rest (initial_quantum and quantum in fq_init, net/sched/sch_fq.c).
FQ_FIRST_PACKETS, FQ_PACKETS = 10, 2
#: A tick that comes while a program reads the virtual clock in a loop, or for which a machine
#: in real time is late, is not in the trace; without more it is not of the interval asked for.
MISSED_TICKS_PART = 0.01
#: What a warning begins with that is about the machine, not the path.
DOUBT = "slow machine: "


def check_base_rtt(output: str, plan: Plan, host: str = PINGER) -> float:
    """A host's RTT over the idle path in ms, from what ping printed before any traffic.

    The median of those that did not overtake others. Raises CheckFailedError if it is not the
    one asked for. Each delay line or card on the way more than the path's two lines
    makes it longer by a timer's delay.
    """
    from_host = "" if host == PINGER else f" from {host}"
    rtts_ms = [reply.rtt_ms for reply in ping.parse(output).replies]
    if not rtts_ms:
        raise CheckFailedError(f"no ping came back over the idle path{from_host}")
    wanted_ms, clock = plan.host_rtt_ms(host), plan.settings.clock
    if plan.path.reorder:
        rtts_ms = [rtt_ms for rtt_ms in rtts_ms if rtt_ms > OVERTAKING * wanted_ms] or rtts_ms
    measured_ms = median(rtts_ms)
    tolerance_ms = RTT_TOLERANCE_MS[clock] + plan.path.jitter_ms + _cards_ms(plan, host)
    if wanted_ms != plan.path.rtt_ms:
        tolerance_ms += 2 * TIMER_MS
    if len(rtts_ms) < MEDIAN_PINGS:
        tolerance_ms += FIRST_PING_MS
    if abs(measured_ms - wanted_ms) > tolerance_ms:
        raise CheckFailedError(
            f"the idle path's RTT{from_host} is {measured_ms:.3f} ms, not {wanted_ms:g} ms "
            f"(within {tolerance_ms:g} ms on the {clock} clock)"
        )
    return measured_ms


def _cards_ms(plan: Plan, host: str) -> float:
    """What cards of a rate add to a ping's RTT: its time at that rate, and a timer's delay."""
    sending = {flow.sender for flow in plan.schedule.all_flows}
    receiver = next((f.receiver for f in plan.schedule.flows if f.sender == host), RECEIVER)
    if plan.era.card_rate_bps is None:
        return 0.0
    return len(sending & {host, receiver}) * (
        PING_FRAME_BYTES * 8e3 / plan.era.card_rate_bps + TIMER_MS
    )


def idle_rtts(rtts_ms: Mapping[str, float]) -> dict[str, Any]:
    """Base RTTs by the host that measured them, for the read-back."""
    senders = {host: rtt_ms for host, rtt_ms in rtts_ms.items() if host != PINGER}
    return {"idle_rtt_ms": rtts_ms[PINGER], **({"idle_rtts_ms": senders} if senders else {})}


def check_windows(samples: Samples, plan: Plan) -> None:
    """Raise CheckFailedError if a TCP receiver advertised another window than asked."""
    for flow in plan.schedule.all_flows:
        rows = samples.flows[samples.flows["flow"] == flow.name]
        if plan.stack_of(flow).program != IPERF3 or rows.empty:
            continue
        wanted = window_of(plan, flow)
        unread = UNREAD_SEGMENTS * segment_bytes(plan.flow_mtu_bytes(flow), plan.ip_version)[0]
        least = wanted * (1 - WINDOW_SHORTFALL) - unread
        largest = int(rows["snd_wnd_bytes"].max())
        carried = float((rows["throughput_bps"]).sum()) / 8 * plan.settings.sample_interval_s
        too_large = largest > wanted * (1 + WINDOW_EXCESS)
        too_small = carried > WINDOWS_TO_OPEN * wanted and largest < least
        if too_large or too_small:
            raise CheckFailedError(
                f"{flow.name} was offered a window of {largest} bytes, not {wanted}: "
                "the receive buffer does not give the window asked for"
            )


def check_segments(raw_dir: FilePath, plan: Plan) -> None:
    """Raise CheckFailedError if a flow's segments are not as large as its hosts' MTUs allow."""
    for flow in plan.schedule.all_flows:
        if plan.stack_of(flow).program != IPERF3:
            continue
        found = iperf3.parse_segment_bytes((raw_dir / f"{flow.name}-sender.out").read_text())
        allowed = segment_bytes(plan.flow_mtu_bytes(flow), plan.ip_version)
        if found not in allowed:
            raise CheckFailedError(
                f"{flow.name} sent segments of {found} bytes, not {allowed[0]}: the MTU between "
                f"{flow.sender} and {flow.receiver} is not {plan.flow_mtu_bytes(flow)} bytes"
            )


def check_congestion(raw_dir: FilePath, plan: Plan) -> None:
    """Raise CheckFailedError if a flow's connection had another congestion control."""
    for flow in plan.schedule.all_flows:
        wanted = plan.stack_of(flow).congestion
        if not wanted:
            continue
        found = iperf3.parse_congestion((raw_dir / f"{flow.name}-sender.out").read_text())
        if found != wanted:
            raise CheckFailedError(
                f"{flow.name} ran congestion control '{found}', not '{wanted}': "
                "the kernel did not take it"
            )


def check_background(readback: Mapping[str, Any], plan: Plan) -> None:
    """Raise CheckFailedError if other traffic was sent than the path has.

    A source sends more than its turns by what its socket holds when it is stopped, which it
    still sends (farpath.tools.socat): at the end of each turn, and once before the first, since
    it fills its socket as it starts. And by what fq lets through at once. It sends less by a
    datagram for each turn at most. Of a run's few turns, or none, that is more than a hundredth.
    """
    background = plan.path.background
    if background is None:
        return
    duration_s = plan.schedule.duration_s
    wanted = sent_bytes(background, plan.seed, duration_s)
    times = len(on_periods(background, plan.seed, duration_s))
    datagram = socat.datagram_packets(background.rate_bps, plan.path.mtu_bytes, plan.ip_version)
    held = socat.SOCKET_DATAGRAMS * datagram
    more = background.sources * (held + FQ_FIRST_PACKETS) + times * (held + FQ_PACKETS)
    frame_bytes = plan.path.frame_bytes
    fewest = wanted * (1 - BACKGROUND_OFF) - times * datagram * frame_bytes
    most = wanted * (1 + BACKGROUND_OFF) + more * frame_bytes
    sent = readback["after"]["background_bytes"] - readback["before"]["background_bytes"]
    if not fewest <= sent <= most:
        raise CheckFailedError(
            f"background traffic was {sent / 1e6:.2f} MB, not {wanted / 1e6:.2f} MB "
            f"({max(0.0, fewest) / 1e6:.2f} to {most / 1e6:.2f} MB are what its sources can send)"
        )


def check_droppers(readback: Mapping[str, Any], plan: Plan) -> list[str]:
    """Warnings on a plan's droppers: those that lost nothing, since their turn never came.

    Raises CheckFailedError if other packets were dropped than they say, and for one that
    no packet concerned.
    """
    idle = []
    for dropper, found in zip(plan.droppers, readback["after"]["droppers"], strict=True):
        seen, lost = found["seen"], found["lost"]
        if not seen:
            raise CheckFailedError(f"DROP {dropper} saw no packet: there was none for it to lose")
        if dropper.kind == "burst" and seen > horizon_packets(plan):
            raise CheckFailedError(
                f"DROP {dropper} saw {seen:,} packets, more than its bursts were drawn for: "
                "the flows send far above the bottleneck's rate"
            )
        fewest, most = dropper.expected(seen, plan.seed)
        if not fewest <= lost <= most:
            wanted = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
            never = ": a packet that was to be lost never came" if lost < fewest else ""
            raise CheckFailedError(
                f"DROP {dropper} took {lost:,} of {seen:,} packets, not {wanted}{never}"
            )
        if not lost:
            idle.append(f"DROP {dropper} lost nothing: it saw {seen:,} packets")
    return idle


def check_trace(trace: Trace | None, samples: Samples, plan: Plan) -> list[str]:
    """Warnings on a run's trace: flows that have none, ticks that a machine was late for.

    Raises CheckFailedError if there were fewer ticks than the schedule has, if too many were
    passed over, and if a flow's last sample acknowledges more or less than its receiver took.
    """
    if trace is None:
        return []
    wanted = ticks(plan.schedule.duration_s, plan.settings.trace_interval_s)
    warnings = untraced(plan)
    for host, found in trace.ticks.items():
        missed = found - trace.asked[host]
        if found < wanted or missed > MISSED_TICKS_PART * wanted:
            raise CheckFailedError(
                f"the trace of {host} is of {trace.asked[host]:,} of {found:,} ticks, not of "
                f"{wanted:,}: take a longer TRACE"
            )
        if missed and not plan.settings.cpu_is_free:
            warnings.append(f"{DOUBT}the trace of {host} lacks {missed:,} of {found:,} ticks")
    for flow in traced_flows(plan):
        _check_bytes(flow, trace, samples, plan)
    return warnings


def _check_bytes(flow: Flow, trace: Trace, samples: Samples, plan: Plan) -> None:
    """What the sender's TCP had acknowledged last, against what the receiver's program took.

    A program that ends leaves up to a window unread, and the connection may end up to an
    interval after its last sample.
    """
    rows = samples.flows[samples.flows["flow"] == flow.name]
    lengths_s = rows["t_s"].diff().fillna(rows["t_s"] - flow.start_s)
    taken = float((rows["throughput_bps"] * lengths_s).sum()) / 8
    acked = float(trace.frame.loc[trace.frame["flow"] == flow.name, "bytes_acked"].iloc[-1])
    rate, rtt_s = plan.path.rate_bps / 8, plan.path.rtt_ms / 1e3
    allowed = plan.path.window_bytes + rate * (plan.settings.trace_interval_s + rtt_s)
    if abs(acked - taken) > allowed:
        raise CheckFailedError(
            f"the trace of {flow.name} ends with {acked / 1e6:.1f} MB acknowledged, but its "
            f"receiver took {taken / 1e6:.1f} MB (within {allowed / 1e6:.1f} MB)"
        )


def check_flows(samples: Samples, plan: Plan) -> None:
    """Raise CheckFailedError if a flow of the schedule left no samples or no bytes."""
    carried = samples.flows.groupby("flow")["throughput_bps"].sum()
    for flow in plan.schedule.all_flows:
        if not carried.get(flow.name, 0.0) > 0.0:
            raise CheckFailedError(
                f"{flow.name} carried nothing: its packets or their acknowledgements were lost, "
                "BUFFER is too small, or REGION is but a few round trips"
            )


def check_machine(raw_dir: FilePath, plan: Plan) -> tuple[dict[str, Any], list[str]]:
    """What a lab in real time saw of its machine: for the read-back, and as warnings.

    Nothing on the virtual lab, which a slow machine does not change. Raises
    CheckFailedError if the machine was too slow for the path, with what showed it; the
    thresholds are those of :mod:`farpath.record.machine_health`.
    """
    if plan.settings.lab != HOST:
        return {}, []

    def text(name: str) -> str:
        try:
            return (raw_dir / name).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise LabFailedError(f"the lab left no {name} in {raw_dir}") from error

    found = summarise_machine(
        plan.path,
        machine=parse_samples(text(MACHINE_FILE)),
        queue=tc.parse_samples(text("queue.txt")),
        lag=ping.parse(text(LAG_FILE)),
        pings=ping.parse(text("ping.out")),
        idle_before=ping.parse(text("ping-idle.out")),
        idle_after=ping.parse(text("ping-idle-after.out")),
        buffers=plan.pinged_bottlenecks,
    )
    judgement = judge(found, plan.path, plan.pinged_bottlenecks)
    if judgement.failed:
        raise _too_slow([*judgement.failed, *judgement.poor])
    return {"machine": found.as_dict()}, [f"{DOUBT}{said}" for said in judgement.poor]


def _too_slow(reasons: Sequence[str]) -> CheckFailedError:
    return CheckFailedError(
        f"this machine was too slow for the path: {'; '.join(reasons)}: "
        "leave it alone meanwhile, lower RATE, or take LAB=virtual"
    )


@contextmanager
def blamed_on_machine(doubts: Sequence[str]) -> Iterator[None]:
    """A failed reading or check of a run on a doubtful machine is the machine's.

    A starved program skips intervals or never opens its window. ``doubts`` are the
    warnings of :func:`check_machine`; with none an error passes as it is, else
    CheckFailedError tells both.
    """
    try:
        yield
    except (LabFailedError, CheckFailedError) as error:
        if not doubts:
            raise
        reasons = [error.message, *(doubt.removeprefix(DOUBT) for doubt in doubts)]
        raise _too_slow(reasons) from error


def sender_cpu(raw_dir: FilePath, plan: Plan, mhz: float | None) -> dict[str, Any]:
    """CPU time of all sending programs, for the read-back of the host lab.

    Their user and system time as getrusage(2) tells it, as the paper's had it from
    time(1) (section III.A). Nothing if a program does not tell, and on the virtual lab:
    there CPU is free, or charged in part (docs/limitations.md).
    """
    if plan.settings.lab != HOST or mhz is None:
        return {}
    total_s = 0.0
    for flow in plan.schedule.flows:
        share = iperf3.parse_cpu_share((raw_dir / f"{flow.name}-sender.out").read_text())
        if share is None:
            return {}
        total_s += share * (flow.stop_s - flow.start_s)
    return {"cpu": {"senders_s": round(total_s, 6), "mhz": mhz}}
