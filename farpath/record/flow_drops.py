"""Drops by flow: how many packets of each flow the path's queues dropped, and how many it lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from farpath.base.errors import CheckFailedError
from farpath.tools.flow_drops import OTHERS

#: What the lab counts, by port (``readback.after.flow_drops``).
QUEUES, LOSSES = "queues", "losses"


@dataclass(frozen=True)
class FlowDrops:
    """Packets by flow, data and acknowledgements.

    ``dropped``: by the queues of the path's bottlenecks. ``lost``: by its random loss and its
    droppers.
    """

    dropped: Mapping[str, int]
    lost: Mapping[str, int]


def flow_drops(readback: Mapping[str, Any]) -> FlowDrops | None:
    """Return the drops by flow of a read-back; None if the lab did not count them."""
    after = readback.get("after", {})
    if "flow_drops" not in after:
        return None
    lost = [counts["flows"] for counts in after["droppers"]]
    return FlowDrops(
        dropped=_sum([_growth(readback, QUEUES, port) for port in after["flow_drops"][QUEUES]]),
        lost=_sum(
            [*(_growth(readback, LOSSES, port) for port in after["flow_drops"][LOSSES]), *lost]
        ),
    )


def check_flow_drops(readback: Mapping[str, Any]) -> None:
    """Raise CheckFailedError if a qdisc dropped another number of packets than counted by flow."""
    counted = readback["after"].get("flow_drops", {})
    for kind, ports in counted.items():
        for port in ports:
            packets = sum(_growth(readback, kind, port).values())
            dropped = _drops(readback["after"], port) - _drops(readback["before"], port)
            if packets != dropped:
                raise CheckFailedError(
                    f"the queue of {port} dropped {dropped:,} packets, but those of the flows and "
                    f"of others are {packets:,}"
                )


def _growth(readback: Mapping[str, Any], kind: str, port: str) -> dict[str, int]:
    """Return the packets that a port dropped between the two read-backs, by flow."""
    before, after = (readback[when]["flow_drops"][kind][port] for when in ("before", "after"))
    return {flow: count - before[flow] for flow, count in after.items()}


def _drops(part: Mapping[str, Any], port: str) -> int:
    """Return the drops that the root qdisc of a port counts."""
    drops: int = next(
        qdisc["drops"] for qdisc in part["qdiscs"] if qdisc["dev"] == port and qdisc.get("root")
    )
    return drops


def _sum(tables: list[Mapping[str, int]]) -> dict[str, int]:
    flows = dict.fromkeys(flow for table in tables for flow in table if flow != OTHERS)
    return {flow: sum(table.get(flow, 0) for table in tables) for flow in flows}
