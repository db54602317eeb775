"""Checks of a run against what was asked: a wrong result is worse than none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from statistics import median
from typing import Any

from farpath.background import sent_bytes, turns
from farpath.dropper import horizon_packets
from farpath.errors import CheckFailedError, LabFailedError
from farpath.flows import iperf3, ping, socat, tc
from farpath.path import Path
from farpath.plan import HOST, Plan
from farpath.record import Samples
from farpath.selfwatch import (
    LAG_FILE,
    MACHINE_FILE,
    judge,
    parse_samples,
    summarise_machine,
)
from farpath.stack import IPERF3

#: How far the idle path's median RTT may lie from the path's, by clock, in ms.
#: Virtual: guest timers count 256 ns, one each way and one to read the clock, and
#: ping prints microseconds. The others spend time on work, in the kernel and, on
#: the wall clock, in whatever else the machine does.
RTT_TOLERANCE_MS = {"virtual": 0.0015, "cpu": 5.0, "wall": 25.0}
#: A window may exceed what was asked by one in a hundred: the kernel rounds its
#: scale to 1/256 and the advertised window to its window scale. It may stay a tenth
#: below: a lossy path keeps part of the buffer filled with data out of order.
WINDOW_EXCESS = 0.01
WINDOW_SHORTFALL = 0.1
#: A flow that carried so many windows has certainly been offered the whole one.
WINDOWS_TO_OPEN = 20
#: How far background traffic may be off, beside what its sources' sockets hold at the
#: end of each turn and still send (farpath.flows.socat).
BACKGROUND_OFF = 0.01
#: What a warning begins with that is about the machine, not the path.
DOUBT = "slow machine: "


def check_base_rtt(output: str, path: Path, clock: str) -> float:
    """The idle path's median RTT in ms, from what ping printed before any traffic.

    Raises CheckFailedError if it is not the path's.
    """
    rtts_ms = [reply.rtt_ms for reply in ping.parse(output).replies]
    if not rtts_ms:
        raise CheckFailedError("no ping came back over the idle path")
    measured_ms = median(rtts_ms)
    tolerance_ms = RTT_TOLERANCE_MS[clock] + path.jitter_ms
    if abs(measured_ms - path.rtt_ms) > tolerance_ms:
        raise CheckFailedError(
            f"the idle path's RTT is {measured_ms:.3f} ms, not {path.rtt_ms:g} ms "
            f"(within {tolerance_ms:g} ms on the {clock} clock)"
        )
    return measured_ms


def check_windows(samples: Samples, plan: Plan) -> None:
    """Raise CheckFailedError if a TCP receiver advertised another window than asked."""
    wanted = plan.path.window_bytes
    tcp = {flow.name for flow in plan.schedule.flows if plan.stack_of(flow).program == IPERF3}
    for flow, rows in samples.flows[samples.flows["flow"].isin(tcp)].groupby("flow"):
        largest = int(rows["snd_wnd_bytes"].max())
        carried = float((rows["throughput_bps"]).sum()) / 8 * plan.settings.sample_interval_s
        too_large = largest > wanted * (1 + WINDOW_EXCESS)
        too_small = carried > WINDOWS_TO_OPEN * wanted and largest < wanted * (1 - WINDOW_SHORTFALL)
        if too_large or too_small:
            raise CheckFailedError(
                f"{flow} was offered a window of {largest} bytes, not {wanted}: "
                "the receive buffer does not give the window asked for"
            )


def check_congestion(raw_dir: FilePath, plan: Plan) -> None:
    """Raise CheckFailedError if a flow's connection had another congestion control."""
    for flow in plan.schedule.flows:
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
    """Raise CheckFailedError if other traffic was sent than the path has."""
    background = plan.path.background
    if background is None:
        return
    duration_s = plan.schedule.duration_s
    wanted = sent_bytes(background, plan.seed, duration_s)
    held = socat.SOCKET_DATAGRAMS * socat.datagram_bytes(background.rate_bps, plan.path.mtu_bytes)
    allowed = BACKGROUND_OFF * wanted + held * len(turns(background, plan.seed, duration_s))
    sent = readback["after"]["background_bytes"] - readback["before"]["background_bytes"]
    if abs(sent - wanted) > allowed:
        raise CheckFailedError(
            f"background traffic was {sent / 1e6:.1f} MB, not {wanted / 1e6:.1f} MB "
            f"(within {allowed / 1e6:.1f} MB)"
        )


def check_droppers(readback: Mapping[str, Any], plan: Plan) -> None:
    """Raise CheckFailedError if other packets were dropped than the plan's droppers say."""
    for dropper, found in zip(plan.droppers, readback["after"]["droppers"], strict=True):
        seen, lost = found["seen"], found["lost"]
        if dropper.kind == "burst" and seen > horizon_packets(plan.path, plan.schedule.duration_s):
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


def check_flows(samples: Samples, plan: Plan) -> None:
    """Raise CheckFailedError if a flow of the schedule left no samples or no bytes."""
    carried = samples.flows.groupby("flow")["throughput_bps"].sum()
    for flow in plan.schedule.flows:
        if not carried.get(flow.name, 0.0) > 0.0:
            raise CheckFailedError(f"{flow.name} carried nothing: see raw/{flow.name}-sender.out")


def check_machine(raw_dir: FilePath, plan: Plan) -> tuple[dict[str, Any], list[str]]:
    """What a lab in real time saw of its machine: for the read-back, and as warnings.

    Nothing on the virtual lab, which a slow machine does not change. Raises
    CheckFailedError if the machine was too slow for the path, with what showed it; the
    thresholds are those of :mod:`farpath.selfwatch`.
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
    )
    judgement = judge(found, plan.path)
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
