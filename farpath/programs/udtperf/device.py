"""udtperf's part in the guest: a user's congestion control for UDT."""

from __future__ import annotations

from farpath.guest.containers import CONGESTIONS
from farpath.guest.flow_ends import FlowEnds
from farpath.spec.stack import UDTPERF, Stack


class UdtperfEnds(FlowEnds):
    """udtperf, with libudt's congestion control or a user's."""

    program = UDTPERF

    def command(self, stack: Stack) -> list[str]:
        """Return the program with the file of a user's congestion control."""
        own = stack.own_congestion
        return [stack.program, *(["--congestion-file", f"{CONGESTIONS}/{own}"] if own else [])]


ENDS = UdtperfEnds()
