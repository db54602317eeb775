"""MPTCP's part in the guest: the commands of its flows, by the program in ``guest/``."""

from __future__ import annotations

import sys

from farpath.guest.flow_ends import FlowEnds
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow
from farpath.spec.stack import MPTCP
from farpath.tools import iperf3_like

#: The program that sends and receives over MPTCP.
TRANSFER = (sys.executable, "-S", "-m", "farpath.programs.mptcp.guest.transfer")


class MptcpEnds(FlowEnds):
    """The transfer over MPTCP, outside of containers."""

    program = MPTCP
    on_bare_host = True

    def receiver(self, plan: Plan, flow: Flow) -> list[str]:
        """Return the command of a receiver."""
        interval_s = plan.settings.flow_interval_s
        return iperf3_like.server_arguments(self._transfer(plan), flow, interval_s, {})

    def sender(self, plan: Plan, flow: Flow, address: str) -> list[str]:
        """Return the command of a sender, with the congestion control of its subflows."""
        options = {"congestion": plan.stack_of(flow).congestion}
        interval_s = plan.settings.flow_interval_s
        return iperf3_like.client_arguments(
            self._transfer(plan), flow, address, interval_s, options
        )

    def _transfer(self, plan: Plan) -> list[str]:
        return [*TRANSFER, "--ip-version", str(plan.ip_version)]


ENDS = MptcpEnds()
