"""Drops by flow: how many packets of each flow the path's queues dropped, and how many it lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from farpath.base.errors import CheckFailedError
from farpath.mechanisms.mechanism import Recorded
from farpath.spec.dropper import THERE
from farpath.spec.plan import Plan


@dataclass(frozen=True)
class FlowDrops:
    """Packets towards the receiver, by flow; None if the lab did not count them.

    ``dropped``: by the path's queues. ``lost``: by its random loss and its droppers.
    """

    dropped: Mapping[str, int] | None = None
    lost: Mapping[str, int] | None = None


def dropper_counts(record: Recorded) -> list[dict[str, Any]]:
    """Return for each dropper the packets that it counted (``seen``) and dropped (``lost``)."""
    counts: list[dict[str, Any]] = record.readback.get("after", {}).get("droppers", [])
    return counts


def dropper_lines(record: Recorded) -> list[str]:
    """Return a line for each dropper with its counts."""
    return [
        f"drop {counts['dropper']}: {counts['lost']:,} of {counts['seen']:,} packets"
        for counts in dropper_counts(record)
    ]


def flow_drops(readback: Mapping[str, Any], plan: Plan) -> FlowDrops:
    """Return the drops by flow of a read-back."""
    after = readback.get("after", {})
    counted = after.get("flow_drops", {})
    dropped, lost = (
        _there(counted[kind]) if kind in counted else None for kind in ("queues", "losses")
    )
    for dropper, counts in zip(plan.droppers, after.get("droppers", ()), strict=False):
        if lost is not None and dropper.direction == THERE:
            lost.update(counts["flows"])
    return FlowDrops(dropped, lost)


def _there(ports: Mapping[str, Any]) -> Counter[str]:
    """Return the sum of packets towards receivers that some ports dropped, by flow."""
    total: Counter[str] = Counter()
    for counts in ports.values():
        total.update(counts["there"])
    return total


def check_flow_drops(readback: Mapping[str, Any]) -> None:
    """Raise CheckFailedError if a qdisc dropped another number of packets than were counted."""
    after = readback["after"]
    for ports in after.get("flow_drops", {}).values():
        for port, counts in ports.items():
            flows = (*counts["there"].values(), *counts["back"].values())
            counted = sum(flows) + counts["others"]
            dropped = _drops(after, port) - _drops(readback["before"], port)
            if counted != dropped:
                raise CheckFailedError(
                    f"the qdisc of {port} dropped {dropped:,} packets, but {counted:,} were "
                    "counted by flow"
                )


def _drops(part: Mapping[str, Any], port: str) -> int:
    """Return the drops that the root qdisc of a port counts."""
    roots = (qdisc for qdisc in part["qdiscs"] if qdisc["dev"] == port and qdisc.get("root"))
    drops: int = next(roots)["drops"]
    return drops
