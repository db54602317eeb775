"""iperf3: flows of the kernel's TCP, with a congestion control of the kernel or of a module."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.programs import program
from farpath.programs.entry import CatalogEntry
from farpath.programs.program import FlowOutput, Program
from farpath.spec.era import Era
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow
from farpath.spec.stack import IPERF3, Stack
from farpath.spec.window import largest_window_of, segment_bytes, window_of
from farpath.tools import iperf3

if TYPE_CHECKING:
    import pandas as pd

MAINLINE = "mainline"
OURS = "ours"
#: Parameter of all modules in images/kernel/stacks, which an era sets.
RECOVERY = "recovery"
#: The window may exceed the planned one by one per cent: the kernel rounds the ratio of
#: window to buffer to 1/256 and the advertised window to its window scale.
WINDOW_EXCESS = 0.01
#: It may stay a tenth below: on a lossy path data out of order fills part of the buffer.
WINDOW_SHORTFALL = 0.1
#: It may lack two segments more: an ACK leaves with the second (RFC 5681, 4.2), before the
#: program has read either.
UNREAD_SEGMENTS = 2
#: How long after its end a test may last, in s; then the receiver gives it up: ten changes of its
#: state, each of 4 s (create_server_timers in iperf3's src/iperf_server_api.c).
END_S = 40
#: What the sender says then.
GIVEN_UP = "control socket has closed unexpectedly"
#: Number of windows after which a flow has certainly been offered the full window.
WINDOWS_TO_OPEN = 20


class Iperf3(Program):
    """iperf3 over TCP."""

    name = IPERF3
    rank = 0
    kinds: Mapping[str, str] = {
        MAINLINE: "mainline: congestion controls of the lab's kernel",
        OURS: "ours: modules of images/kernel/stacks",
    }
    transport = program.TCP
    reads_files = True
    takes_bytes = True

    def stack(self, entry: CatalogEntry, label: str, given: Mapping[str, str]) -> Stack:
        """Return a congestion control; the parameters of a variant come with it."""
        return Stack(
            label,
            entry.name,
            self.name,
            congestion=entry.congestion,
            module=f"tcp_{entry.congestion}" if entry.kind == OURS else "",
            parameters={**entry.preset, **given},
            sysctl=entry.sysctl,
        )

    def recovering(self, stack: Stack, era: Era) -> Stack:
        """Set the parameter of farpath's own modules.

        Raises BadInputError for a congestion control that has none.
        """
        if not era.recovery:
            return stack
        entry = self.stacks.get(stack.name)
        if stack.build or entry is None or entry.kind != OURS:
            forms = ", ".join(name for name, each in self.stacks.items() if each.kind == OURS)
            raise BadInputError(
                option="era",
                problem=(
                    f"it has recovery={era.recovery}, and {stack.label} recovers as the kernel does"
                ),
                remedy=f"leave recovery out, or run one of {forms}",
            )
        return dataclasses.replace(stack, parameters={**stack.parameters, RECOVERY: "1"})

    def slows_down(self, stack: Stack) -> bool:
        """Known of farpath's congestion controls and the kernel's; not of a user's own."""
        return not stack.build

    def check_flow(self, stack: Stack, rows: pd.DataFrame, output: FlowOutput, plan: Plan) -> None:
        """Check congestion control, window and segments, which the kernel reports."""
        report, flow = output.sender, output.flow
        actual = iperf3.parse_congestion(report)
        if actual != stack.congestion:
            raise CheckFailedError(
                f"{flow.name} ran congestion control '{actual}', not '{stack.congestion}': the "
                "kernel did not accept it"
            )
        if not rows.empty:
            check_window(flow, rows, plan)
        check_segments(flow, report, plan)

    def failure_cause(self, message: str, flow: Flow, plan: Plan) -> str:
        """Name a buffer that drains for longer than the receiver waits for the test's end."""
        if GIVEN_UP not in message or plan.drain_s <= END_S:
            return ""
        return (
            f"{flow.name}'s last packets may wait for {plan.drain_s:.0f} s, and iperf3's receiver "
            f"gives up {END_S} s after a test's end: give a smaller `buffer`, or a higher `rate`"
        )


def check_segments(flow: Flow, report: str, plan: Plan) -> None:
    """Raise CheckFailedError if a flow's segment size does not match its hosts' MTUs."""
    measured = iperf3.parse_segment_bytes(report)
    allowed = segment_bytes(plan.flow_mtu_bytes(flow), plan.ip_version)
    if measured not in allowed:
        raise CheckFailedError(
            f"{flow.name} sent segments of {measured} bytes, not {allowed[0]}: the MTU between "
            f"{flow.sender} and {flow.receiver} is not {plan.flow_mtu_bytes(flow)} bytes"
        )


def check_window(flow: Flow, rows: pd.DataFrame, plan: Plan) -> None:
    """Raise CheckFailedError if a receiver advertised another window than planned.

    A program that waits for its disk leaves data unread, and the window may stay smaller.
    """
    planned_bytes = window_of(plan, flow)
    unread = UNREAD_SEGMENTS * segment_bytes(plan.flow_mtu_bytes(flow), plan.ip_version)[0]
    least = planned_bytes * (1 - WINDOW_SHORTFALL) - unread
    largest = int(rows["snd_wnd_bytes"].max())
    carried = float((rows["throughput_bps"]).sum()) / 8 * plan.settings.flow_interval_s
    too_large = largest > largest_window_of(plan, flow) * (1 + WINDOW_EXCESS)
    opens = carried > WINDOWS_TO_OPEN * planned_bytes and plan.sink is None
    too_small = opens and largest < least
    if too_large or too_small:
        raise CheckFailedError(
            f"{flow.name} was offered a window of {largest} bytes, not {planned_bytes}: "
            "the receive buffer does not give the window asked for"
        )


PROGRAM = Iperf3()
