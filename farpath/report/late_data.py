"""Notes of figures and pages on throughput above the bottleneck's rate in some seconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from farpath.metrics.run import per_second, seconds_above_rate
from farpath.spec.mptcp import mptcp_flows

if TYPE_CHECKING:
    from farpath.record.record import Record, Samples
    from farpath.spec.plan import Plan

#: Why a receiver may get more in a second than a bottleneck carries.
LATE_DATA = (
    "receivers read in blocks and in order, so data behind a lost packet is counted late, when "
    "that packet has arrived again."
)


def above_rate_note(samples: Samples, plan: Plan) -> str:
    """Say why throughput exceeds the bottleneck's rate in some seconds; empty if in none.

    Empty too for flows of MPTCP in a network of the user's, where links are beside the bottleneck.
    """
    if plan.user_network and mptcp_flows(plan):
        return ""
    count = seconds_above_rate(per_second(samples, plan.schedule), plan)
    if not count:
        return ""
    seconds = f"{count} second{'s' if count > 1 else ''}"
    return f"In {seconds} throughput exceeds the bottleneck's rate: {LATE_DATA}"


def above_rates_note(records: Iterable[Record]) -> str:
    """Say the same of the runs of one figure."""
    if not any(above_rate_note(record.samples, record.plan) for record in records):
        return ""
    return f"In some seconds throughput exceeds the bottleneck's rate: {LATE_DATA}"
