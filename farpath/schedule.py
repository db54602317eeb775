"""Schedule: who sends to whom with which stack, from when to when.

Plain data, shared by host and guest.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Regions of the 2005 test, in units of one region: where each begins and ends.
#: Four flows join one region apart and leave last in, first out; with all four
#: present the region is twice as long (paper, section III.A and figure 1).
SEVEN_REGIONS = ((0, 1), (1, 2), (2, 3), (3, 5), (5, 6), (6, 7), (7, 8))
#: The regions in which more than one flow is present, counted from 1.
SHARED_REGIONS = (2, 3, 4, 5, 6)


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
        """The seven regions, each with the flows present throughout it."""
        found = []
        for number, (start, stop) in enumerate(SEVEN_REGIONS, start=1):
            start_s, stop_s = start * self.region_s, stop * self.region_s
            present = tuple(
                flow.name
                for flow in self.flows
                if flow.start_s <= start_s and flow.stop_s >= stop_s
            )
            found.append(Region(number, start_s, stop_s, present))
        return tuple(found)


def seven_regions(stack: str, region_s: float) -> Schedule:
    """The 2005 test: four flows, one region apart, last in first out.

    Source: the paper, section III.A; with ``region_s`` 120 it lasts 16 minutes.
    """
    end = SEVEN_REGIONS[-1][1]
    flows = tuple(
        Flow(
            name=f"flow{number}",
            sender="sender",
            receiver="receiver",
            stack=stack,
            start_s=(number - 1) * region_s,
            stop_s=(end - number + 1) * region_s,
            port=5200 + number,
        )
        for number in range(1, 5)
    )
    return Schedule("seven-regions", flows, end * region_s, region_s)
