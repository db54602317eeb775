"""QUIC's part in the guest: a flow's qlog, which its sender writes."""

from __future__ import annotations

from collections.abc import Mapping

from farpath.guest.flow_ends import FlowEnds
from farpath.spec.plan import Plan
from farpath.spec.protocol import QLOG_FILE
from farpath.spec.schedule import Flow
from farpath.spec.stack import QUIC

#: The file to which a sender writes its qlog.
QLOG = "/dev/qlog"


class QuicEnds(FlowEnds):
    """A program of a QUIC library."""

    program = QUIC

    def sender(self, plan: Plan, flow: Flow, address: str) -> list[str]:
        """Return the command of a sender, which may keep a qlog."""
        qlog = ["--qlog-file", QLOG] if self.written(plan, flow) else []
        return [*super().sender(plan, flow, address), *qlog]

    def written(self, plan: Plan, flow: Flow) -> Mapping[str, str]:
        """Return the raw file of a flow's qlog, if it keeps one."""
        if plan.stack_of(flow).parameters["qlog"] == "0":
            return {}
        return {QLOG: QLOG_FILE.format(flow=flow.name)}


ENDS = QuicEnds()
