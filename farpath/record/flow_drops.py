"""Drops by flow: how many packets of each flow the path's queues dropped, and how many it lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from farpath.base.errors import CheckFailedError
from farpath.spec.dropper import THERE
from farpath.spec.plan import Plan

#: What the lab counts by port, in ``readback.before`` and ``.after``.
COUNTS = "flow_drops"


@dataclass(frozen=True)
class FlowDrops:
    """Packets towards the receiver, by flow.

    ``dropped``: by the path's queues. ``lost``: by its random loss and its droppers.
    """

    dropped: Mapping[str, int]
    lost: Mapping[str, int]


def flow_drops(readback: Mapping[str, Any], plan: Plan) -> FlowDrops | None:
    """Return the drops by flow of a read-back; None if the lab did not count them."""
    if COUNTS not in readback.get("after", {}):
        return None
    lost = _sum_there(readback, "losses")
    for dropper, counts in zip(plan.droppers, readback["after"]["droppers"], strict=True):
        if dropper.direction == THERE:
            lost.update(counts["flows"])
    return FlowDrops(_sum_there(readback, "queues"), lost)


def check_flow_drops(readback: Mapping[str, Any]) -> None:
    """Raise CheckFailedError if a qdisc dropped another number of packets than was counted."""
    for kind in readback["after"].get(COUNTS, {}):
        for port, before, after in _ports(readback, kind):
            counted = _all_packets(after) - _all_packets(before)
            dropped = _drops(readback["after"], port) - _drops(readback["before"], port)
            if counted != dropped:
                raise CheckFailedError(
                    f"the qdisc of {port} dropped {dropped:,} packets, but {counted:,} were "
                    "counted by flow"
                )


def _ports(readback: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield each port of a kind, and what it had dropped before and after the traffic."""
    before, after = (readback[when][COUNTS][kind] for when in ("before", "after"))
    return ((port, before[port], after[port]) for port in after)


def _sum_there(readback: Mapping[str, Any], kind: str) -> Counter[str]:
    """Return the packets towards receivers that all ports of a kind dropped, by flow."""
    total: Counter[str] = Counter()
    for _, before, after in _ports(readback, kind):
        total.update(after["there"])
        total.subtract(before["there"])
    return total


def _all_packets(counts: Mapping[str, Any]) -> int:
    packets: int = sum(counts["there"].values()) + sum(counts["back"].values()) + counts["others"]
    return packets


def _drops(part: Mapping[str, Any], port: str) -> int:
    """Return the drops that the root qdisc of a port counts."""
    roots = (qdisc for qdisc in part["qdiscs"] if qdisc["dev"] == port and qdisc.get("root"))
    drops: int = next(roots)["drops"]
    return drops
