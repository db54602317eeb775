"""Checks of a run against what was asked: a wrong result is worse than none."""

from __future__ import annotations

from pathlib import Path as FilePath
from statistics import median

from farpath.errors import CheckFailedError
from farpath.flows import iperf3, ping
from farpath.path import Path
from farpath.plan import Plan
from farpath.record import Samples
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


def check_base_rtt(output: str, path: Path, clock: str) -> float:
    """The idle path's median RTT in ms, from what ping printed before any traffic.

    Raises CheckFailedError if it is not the path's.
    """
    rtts_ms = [reply.rtt_ms for reply in ping.parse(output).replies]
    if not rtts_ms:
        raise CheckFailedError("no ping came back over the idle path")
    measured_ms = median(rtts_ms)
    if abs(measured_ms - path.rtt_ms) > RTT_TOLERANCE_MS[clock]:
        raise CheckFailedError(
            f"the idle path's RTT is {measured_ms:.3f} ms, not {path.rtt_ms:g} ms "
            f"(within {RTT_TOLERANCE_MS[clock]:g} ms on the {clock} clock)"
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


def check_flows(samples: Samples, plan: Plan) -> None:
    """Raise CheckFailedError if a flow of the schedule left no samples or no bytes."""
    carried = samples.flows.groupby("flow")["throughput_bps"].sum()
    for flow in plan.schedule.flows:
        if not carried.get(flow.name, 0.0) > 0.0:
            raise CheckFailedError(f"{flow.name} carried nothing: see raw/{flow.name}-sender.out")
