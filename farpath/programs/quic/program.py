"""QUIC: flows of the programs of images/quic, one for each library."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.programs.program import FlowOutput, Program
from farpath.spec.era import MODERN
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.settings import VIRTUAL
from farpath.spec.stack import QUIC, Stack
from farpath.tools import iperf3

if TYPE_CHECKING:
    import pandas as pd

#: Prefix of the stacks' names, before the name of the library.
PREFIX = "quic_"
#: Smallest MTU: datagrams of 1200 bytes must pass (RFC 9000, section 14), below the headers of
#: IPv6 and UDP, and IPv6 has none below this (RFC 8200, section 5).
LEAST_MTU_BYTES = 1280
#: Windows of flow control are path and buffer, this many times: the window of
#: slow start doubles beyond both before a loss is known (RFC 9002, section 7.3.1).
PATHS_IN_WINDOW = 4
#: The largest window that the stacks take.
MOST_WINDOW_BYTES = 1 << 30


class Quic(Program):
    """A program with a QUIC library."""

    name = QUIC
    rank = 20
    labs = (VIRTUAL,)
    # By the tag of its encryption (RFC 9001, section 5.3)
    finds_damage = True
    packet_size_parameter = "mtu"
    build_script = "images/quic/build"

    def fitted(self, stack: Stack, path: Path, ip_version: int) -> Stack:
        """Make packets fill the path's MTU, and the window fill the path.

        The window is the default, or the path's need if that is more. Raises BadInputError
        for packets that the path cannot carry, and for BBR that may not pace.
        """
        if path.mtu_bytes < LEAST_MTU_BYTES:
            raise BadInputError(
                option="stack",
                given=stack.label,
                problem=(
                    f"it needs an MTU of at least {LEAST_MTU_BYTES} bytes (RFC 9000, "
                    f"section 14), and path {path.name} has {path.mtu_bytes}"
                ),
                remedy="raise `mtu`",
            )
        if int(stack.parameters.get("mtu", 0)) > path.mtu_bytes:
            raise BadInputError(
                option="stack",
                problem=(
                    f"mtu of {stack.name} is {stack.parameters['mtu']}, but path "
                    f"{path.name} allows {path.mtu_bytes} (mtu_bytes)"
                ),
                remedy="lower it, or raise `mtu`",
            )
        defaults = {name: one.default for name, one in self.parameters_of(stack).items()}
        held_bytes = round(max(path.rates_bps) * max(path.rtts_ms) / 8e3) + path.buffer_bytes
        window_bytes = max(int(defaults["window"]), PATHS_IN_WINDOW * held_bytes)
        fitting = {
            "mtu": str(path.mtu_bytes),
            "window": str(min(window_bytes, MOST_WINDOW_BYTES)),
        }
        complete = {**defaults, **fitting, **stack.parameters}
        if complete["cc"] == "bbr" and complete.get("pacing") == "0":
            raise BadInputError(
                option="stack",
                given=stack.label,
                problem="it has cc=bbr and pacing=0, and BBR sends at a rate",
                remedy="leave one of them out",
            )
        return dataclasses.replace(stack, parameters=complete)

    def check(self, stack: Stack, plan: Plan) -> None:
        """Refuse hosts of an era before QUIC too."""
        super().check(stack, plan)
        if plan.era.name != MODERN.name:
            raise BadInputError(
                option="stack",
                given=stack.label,
                problem=(
                    f"`era` is '{plan.era.name}', but QUIC is of 2021 (RFC 9000), and its "
                    "programs run on today's hosts"
                ),
                remedy="leave `era` out",
            )

    def build_argument(self, stack: Stack) -> str:
        """Return the name of its library."""
        return stack.name.removeprefix(PREFIX)

    def window_bytes(self, stack: Stack) -> int:
        """Return the window of flow control."""
        return int(stack.parameters["window"])

    def slows_down(self, stack: Stack) -> bool:
        """All its congestion controls do (RFC 9002)."""
        return True

    def kept_bytes(self, stack: Stack) -> int:
        """Return the most that the qlog takes, which is given in MiB."""
        return int(stack.parameters["qlog"]) << 20

    def check_flow(self, stack: Stack, rows: pd.DataFrame, output: FlowOutput, plan: Plan) -> None:
        """Check the congestion control that the program reports."""
        actual, planned = iperf3.parse_program_congestion(output.sender), stack.parameters["cc"]
        if actual != planned:
            raise CheckFailedError(
                f"{output.flow.name} ran congestion control '{actual}', not '{planned}': its "
                "program did not accept it"
            )


PROGRAM = Quic()
