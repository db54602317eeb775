"""udtperf: flows of UDT, with its own congestion controls or one of a user's."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from farpath.base.errors import BadInputError
from farpath.programs.entry import Parameter
from farpath.programs.program import TAKEN, Program
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow
from farpath.spec.stack import UDTPERF, Stack

#: The kernel keeps buffer sizes in signed 32-bit integers.
LARGEST_BUFFER_BYTES = (1 << 31) - 1
#: Sysctls that limit the buffers of UDP sockets; the kernel silently cuts larger ones.
UDP_BUFFER_LIMITS = {
    "udp_sndbuf": "net.core.wmem_max",
    "udp_rcvbuf": "net.core.rmem_max",
}
#: How long UDT waits for a connection, in s, and the round trips that it makes until then: of a
#: request, and of the same with the receiver's cookie (CUDT::connect in libudt's src/core.cpp).
CONNECT_S, CONNECT_ROUND_TRIPS = 3.0, 2
#: What it says then.
NO_CONNECTION = "connection time out"
#: Parameter of UDT's stacks: its congestion control, and the one of a constant rate.
CONGESTION, BLAST = "congestion", "blast"
#: The stack from which a user's own congestion control takes its other parameters.
USER_MODEL = "udt4"


class Udtperf(Program):
    """UDT of Debian's libudt."""

    name = UDTPERF
    rank = 10
    ip_versions = (4,)
    paces_itself = True
    packet_size_parameter = "mss"
    source_hashes = ("udtperf_hash",)
    #: Besides those that are parameters of its stacks (images/udtperf).
    taken = (*TAKEN, CONGESTION, "congestion_file", "clock", "pacing", "ahead", "gather", "length")

    @property
    def user_parameters(self) -> Mapping[str, Parameter]:
        """The parameters that UDT has with a congestion control of a user's, by name."""
        described = self.stacks[USER_MODEL].parameters
        return {name: one for name, one in described.items() if name != CONGESTION}

    def parameters_of(self, stack: Stack) -> Mapping[str, Parameter]:
        """Return the parameters that a stack has, by name."""
        return self.user_parameters if stack.build else super().parameters_of(stack)

    def fitted(self, stack: Stack, path: Path, ip_version: int) -> Stack:
        """Make packets as large as the path's MTU, and socket buffers fit its sysctls.

        Raises BadInputError for larger values, since packets would be fragmented and buffers
        silently cut.
        """
        limits = {"mss": (path.mtu_bytes, "mtu_bytes")}
        for name, sysctl in UDP_BUFFER_LIMITS.items():
            limits[name] = (int(path.sysctl.get(sysctl, LARGEST_BUFFER_BYTES)), sysctl)
        parameters = {name: one.default for name, one in self.parameters_of(stack).items()}
        parameters["mss"] = str(path.mtu_bytes)
        for name, (limit, setting) in limits.items():
            if int(stack.parameters.get(name, 0)) > limit:
                raise BadInputError(
                    option="stack",
                    problem=(
                        f"{name} of {stack.name} is {stack.parameters[name]}, but path "
                        f"{path.name} allows {limit} ({setting})"
                    ),
                    remedy=f"lower {name}, or raise {setting}",
                )
            parameters[name] = str(min(int(parameters[name]), limit))
        complete = {**parameters, **stack.parameters}
        if complete.get(CONGESTION) == BLAST and complete["max_rate"] == "0":
            raise BadInputError(
                option="stack",
                given=stack.label,
                problem="it sends at max_rate",
                remedy=(
                    f"give one in bit/s, as in {stack.name}:{CONGESTION}={BLAST},max_rate=100000000"
                ),
            )
        return dataclasses.replace(stack, parameters=complete)

    def check(self, stack: Stack, plan: Plan) -> None:
        """Refuse also a path on which UDT cannot connect in its time."""
        super().check(stack, plan)
        most_ms = CONNECT_S / CONNECT_ROUND_TRIPS * 1e3
        for flow in plan.schedule.all_flows:
            rtt_ms = plan.pair_rtt_ms(flow.sender, flow.receiver)
            if flow.stack == stack.label and rtt_ms >= most_ms:
                raise BadInputError(
                    option="stack",
                    given=stack.label,
                    problem=(
                        f"UDT gives up a connection after {CONNECT_S:g} s, in which it makes "
                        f"{CONNECT_ROUND_TRIPS} round trips, and one takes {rtt_ms:g} ms"
                    ),
                    remedy=f"give an `rtt` below {most_ms:g}ms, or a TCP stack",
                )

    def failure_cause(self, message: str, flow: Flow, plan: Plan) -> str:
        """Name buffers in which the packets of a connection may wait for too long."""
        if NO_CONNECTION not in message or plan.drain_s * CONNECT_ROUND_TRIPS < CONNECT_S:
            return ""
        return (
            f"{flow.name} did not connect: a round trip may take {plan.drain_s:.1f} s behind "
            f"others, and UDT gives up after {CONNECT_S:g} s, in which it makes "
            f"{CONNECT_ROUND_TRIPS}: give a smaller `buffer`"
        )


PROGRAM = Udtperf()
