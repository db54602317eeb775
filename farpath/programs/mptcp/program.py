"""MPTCP: flows over one or several links, by a program of the guest's own.

What path manager and scheduler do is the mechanism of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from farpath.base.errors import CheckFailedError
from farpath.programs import program
from farpath.programs.entry import CatalogEntry
from farpath.programs.program import FlowOutput, Program
from farpath.spec.plan import Plan
from farpath.spec.settings import VIRTUAL
from farpath.spec.stack import MPTCP, Stack
from farpath.tools import iperf3

if TYPE_CHECKING:
    import pandas as pd

_CONGESTION = "congestion"


class Mptcp(Program):
    """The kernel's MPTCP."""

    name = MPTCP
    rank = 5
    kinds: Mapping[str, str] = {MPTCP: "mptcp: the kernel's TCP over several links"}
    transport = program.TCP
    labs = (VIRTUAL,)

    def stack(self, entry: CatalogEntry, label: str, given: Mapping[str, str]) -> Stack:
        """Return MPTCP whose subflows have the given congestion control of the kernel."""
        default = entry.parameters[_CONGESTION].default
        return Stack(label, entry.name, self.name, congestion=given.get(_CONGESTION, default))

    def slows_down(self, stack: Stack) -> bool:
        """Each subflow is a connection of the kernel's TCP."""
        return True

    def check_flow(self, stack: Stack, rows: pd.DataFrame, output: FlowOutput, plan: Plan) -> None:
        """Check the congestion control, which the sender reads from its socket."""
        actual = iperf3.parse_congestion(output.sender)
        if actual != stack.congestion:
            raise CheckFailedError(
                f"{output.flow.name} ran congestion control '{actual}', not '{stack.congestion}': "
                "the kernel did not accept it"
            )


PROGRAM = Mptcp()
