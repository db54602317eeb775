"""UDP: datagrams at a constant rate, which iperf3 sends and counts (``farpath.spec.datagrams``)."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from farpath.base.errors import BadInputError
from farpath.programs import program
from farpath.programs.program import FlowOutput, Program
from farpath.spec.datagrams import (
    HEADERS_BYTES,
    MOST_PACING_BPS,
    notes_arrivals,
    pacing_bps,
    size_bytes,
)
from farpath.spec.path import Path
from farpath.spec.protocol import ARRIVALS_FILE
from farpath.spec.stack import UDP, Stack
from farpath.tools import iperf3

DATAGRAMS = "datagrams"


class Udp(Program):
    """Datagrams of iperf3."""

    name = UDP
    rank = 30
    kinds: Mapping[str, str] = {DATAGRAMS: "datagrams: no transport but UDP"}
    transport = program.NONE
    paces_itself = True
    packet_size_parameter = "size"
    counted_as = "datagrams"

    def headers_bytes(self, ip_version: int) -> int:
        """Return the bytes of IP and UDP."""
        return HEADERS_BYTES[ip_version]

    def packet_bytes(self, stack: Stack, ip_version: int) -> int:
        """Return the size of a packet with a datagram."""
        return size_bytes(stack) + self.headers_bytes(ip_version)

    def fitted(self, stack: Stack, path: Path, ip_version: int) -> Stack:
        """Set size and rate that were left out.

        Raises BadInputError for more than a packet holds, for both a rate and a spacing, and for
        a higher rate than the kernel can space.
        """
        given, most_bytes = stack.parameters, path.mtu_bytes - HEADERS_BYTES[ip_version]
        if int(given.get("spacing", 0)) and "rate" in given:
            raise BadInputError(
                option="stack",
                given=stack.label,
                problem="it has rate and spacing",
                remedy="leave one of them out",
            )
        if int(given.get("size", 0)) > most_bytes:
            raise BadInputError(
                option="stack",
                problem=(
                    f"size of {stack.name} is {given['size']}, but a packet of path "
                    f"{path.name} holds {most_bytes} bytes"
                ),
                remedy="lower size, or raise `mtu`",
            )
        default = self.parameters_of(stack)["rate"].default
        rate = {} if int(given.get("spacing", 0)) else {"rate": default}
        parameters = {"size": str(most_bytes), **rate, **given}
        complete = dataclasses.replace(stack, parameters=parameters)
        if pacing_bps(complete, ip_version) > MOST_PACING_BPS:
            raise BadInputError(
                option="stack",
                given=stack.label,
                problem=(
                    f"it sends {pacing_bps(complete, ip_version) / 1e9:.3g} Gbit/s, and at "
                    f"most {MOST_PACING_BPS / 1e9:g} are possible"
                ),
                remedy="give a larger spacing",
            )
        return complete

    def unbound_bps(self, stack: Stack, ip_version: int) -> int:
        """Return the rate of frames: no window bounds datagrams."""
        return pacing_bps(stack, ip_version)

    def counted(self, stack: Stack, output: FlowOutput) -> dict[str, Any]:
        """Return the receiver's counts; ``sent``: the sender's count.

        ``arrivals``: a listener's notes, of stacks that ask for them.
        """
        received = iperf3.parse_datagrams(output.receiver)
        sent = iperf3.parse_datagrams(output.sender)
        counts: dict[str, Any] = {"sent": sent.expected, **dataclasses.asdict(received)}
        if notes_arrivals(stack):
            file = ARRIVALS_FILE.format(flow=output.flow.name)
            counts["arrivals"] = json.loads(output.read(file))
        return counts


PROGRAM = Udp()
