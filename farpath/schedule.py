"""Schedule: who sends to whom with which stack, from when to when.

Plain data, shared by host and guest.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

#: The 2005 test: flows join one region apart and leave last in, first out, so with
#: all of them present the region is twice as long (paper, section III.A, figure 1).
SEVEN_REGIONS = "seven-regions"
FLOWS = 4
REGIONS = 2 * FLOWS


@dataclass(frozen=True)
class Flow:
    """One transfer: ``stack`` from ``sender`` to ``receiver`` between two times.

    ``start_s`` and ``stop_s`` count virtual seconds from the schedule's start.
    """

    name: str
    sender: str
    receiver: str
    stack: str
    start_s: float
    stop_s: float
    port: int


@dataclass(frozen=True)
class Region:
    """One stretch of a schedule in which the same flows are present."""

    number: int
    start_s: float
    stop_s: float
    flows: tuple[str, ...]


@dataclass(frozen=True)
class Schedule:
    """All flows of a run and how long it lasts."""

    name: str
    flows: tuple[Flow, ...]
    duration_s: float
    region_s: float

    def regions(self) -> tuple[Region, ...]:
        """The stretches between one flow's start or stop and the next, in order.

        Seven for the 2005 test; regions without any flow do not count.
        """
        edges_s = sorted({edge for flow in self.flows for edge in (flow.start_s, flow.stop_s)})
        found: list[Region] = []
        for start_s, stop_s in pairwise(edges_s):
            present = tuple(
                flow.name
                for flow in self.flows
                if flow.start_s <= start_s and flow.stop_s >= stop_s
            )
            if present:
                found.append(Region(len(found) + 1, start_s, stop_s, present))
        return tuple(found)


def seven_regions(stack: str, region_s: float) -> Schedule:
    """The 2005 test: four flows, one region apart, last in first out.

    Source: the paper, section III.A; with ``region_s`` 120 it lasts 16 minutes.
    """
    flows = tuple(
        Flow(
            name=f"flow{number}",
            sender="sender",
            receiver="receiver",
            stack=stack,
            start_s=(number - 1) * region_s,
            stop_s=(REGIONS - number + 1) * region_s,
            port=5200 + number,
        )
        for number in range(1, FLOWS + 1)
    )
    return Schedule(SEVEN_REGIONS, flows, REGIONS * region_s, region_s)
