"""iperf3's part in the guest: the commands of its flows, and the libraries that they preload."""

from __future__ import annotations

from farpath.guest.containers import (
    ACCEPT_LIBRARY,
    DISK,
    DRAIN_LIBRARY,
    PRELOAD,
    SINK_LIBRARY,
    TRANSFER_LIBRARY,
)
from farpath.guest.flow_ends import FlowEnds
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow
from farpath.spec.sites import discards_payload
from farpath.spec.stack import IPERF3
from farpath.spec.transfer import block_bytes
from farpath.tools import iperf3


class Iperf3Ends(FlowEnds):
    """iperf3 over TCP; over other protocols, the libraries that it preloads."""

    program = IPERF3

    def receiver(self, plan: Plan, flow: Flow) -> list[str]:
        """Return the command of a receiver, which may write to a disk."""
        return iperf3.server_arguments(
            *(flow, plan.settings.flow_interval_s, DISK if plan.sink else ""),
            of_user=flow.receiver in plan.images,
        )

    def sender(self, plan: Plan, flow: Flow, address: str) -> list[str]:
        """Return the command of a sender, which may read from a disk, or end after some bytes."""
        transfer_bytes = plan.transfer_bytes
        return iperf3.client_arguments(
            *(flow, address, plan.settings.flow_interval_s, plan.stack_of(flow).congestion),
            *(plan.settings.cpu_is_free or transfer_bytes > 0, DISK if plan.source else ""),
            block_bytes(transfer_bytes) if transfer_bytes else iperf3.BLOCK_BYTES,
        )

    def receiver_environment(self, plan: Plan, flow: Flow) -> dict[str, str]:
        """Preload the libraries that tell when a connection began and that discard its data."""
        if not discards_payload(plan, flow):
            return {PRELOAD: ACCEPT_LIBRARY}
        wake_bytes = plan.settings.wake_bytes
        return {
            PRELOAD: f"{ACCEPT_LIBRARY}:{SINK_LIBRARY}",
            "SINK_WAKE_BYTES": str(wake_bytes),
        }

    def sender_environment(self, plan: Plan, flow: Flow) -> dict[str, str]:
        """Preload the libraries that wait while the path drains and that end after some bytes."""
        libraries = [DRAIN_LIBRARY] if plan.settings.cpu_is_free else []
        transfer_bytes = plan.transfer_bytes
        limit = {"TRANSFER_BYTES": str(transfer_bytes)} if transfer_bytes else {}
        if limit:
            libraries.append(TRANSFER_LIBRARY)
        return {PRELOAD: ":".join(libraries), **limit} if libraries else {}


ENDS = Iperf3Ends()
