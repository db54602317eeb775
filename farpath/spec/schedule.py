"""Schedule: the flows of a run, each with its hosts, stack, start and stop, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from farpath.base.errors import BadInputError

#: The 2005 test: flows start one region apart and stop in reverse order, so the region with all
#: of them is twice as long (paper, section III.A, figure 1).
SEVEN_REGIONS = "seven-regions"
#: Simultaneous start of all flows.
TOGETHER = "together"
#: Staggered start of the flows, one region apart.
JOINING = "joining"
#: Flows of the 2005 test, and its length in regions.
FLOWS = 4
REGIONS = 2 * FLOWS
#: Longest schedule in s: iperf3's longest test (MAX_TIME in src/iperf.h).
LONGEST_S = 86_400.0
#: Most flows in one direction; each has two processes.
MOST_FLOWS = 100
#: Largest ratio of a schedule's length to its region: more than flows can start and stop.
MOST_REGIONS = 1_000
#: Ports of flows: flow k has this port plus k.
FIRST_PORT = 5200


@dataclass(frozen=True)
class Flow:
    """One transfer from ``sender`` to ``receiver`` with the stack of the label ``stack``.

    ``start_s`` and ``stop_s`` are virtual seconds from the schedule's start. ``port``: the
    receiver's port.
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
    """An interval of a schedule, in s, during which the same flows are active."""

    number: int
    start_s: float
    stop_s: float
    flows: tuple[str, ...]


@dataclass(frozen=True)
class Schedule:
    """All flows of a run, and its length.

    ``flows``: the flows that metrics are computed for. ``duration_s``: length of the schedule.
    ``region_s``: length of a region. ``reverse``: flows in the other direction, which no metric
    counts. Raises BadInputError for times that contradict each other, for too many flows, and
    for two flows with the same name.
    """

    name: str
    flows: tuple[Flow, ...]
    duration_s: float
    region_s: float
    reverse: tuple[Flow, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.duration_s <= LONGEST_S:
            raise BadInputError(
                problem=f"the schedule lasts {self.duration_s:g} s",
                remedy=f"it must last from 1 to {LONGEST_S:g} s: give another `region` or `time`, "
                "or fewer flows",
            )
        if not self.duration_s / MOST_REGIONS <= self.region_s <= self.duration_s:
            raise BadInputError(
                option="region",
                given=f"{self.region_s:g} s",
                remedy=f"it must go from 1 to {MOST_REGIONS} times into the schedule's "
                f"{self.duration_s:g} s",
            )
        if not self.flows or max(len(self.flows), len(self.reverse)) > MOST_FLOWS:
            raise BadInputError(
                problem=f"the schedule has {len(self.flows)} flows and {len(self.reverse)} in the "
                "other direction",
                remedy=f"it must have 1 to {MOST_FLOWS} flows, and at most {MOST_FLOWS} reverse",
            )
        for flow in self.all_flows:
            if not 0 <= flow.start_s < flow.stop_s <= self.duration_s:
                raise BadInputError(
                    problem=f"{flow.name} lasts from {flow.start_s:g} to {flow.stop_s:g} s",
                    remedy=f"that must lie within the schedule's {self.duration_s:g} s",
                )
        if len({flow.name for flow in self.all_flows}) < len(self.all_flows):
            raise BadInputError(problem="two flows of the schedule have the same name")

    @property
    def all_flows(self) -> tuple[Flow, ...]:
        """The flows of both directions."""
        return self.flows + self.reverse

    def regions(self) -> tuple[Region, ...]:
        """Return the intervals between successive starts and stops of flows, in order.

        There are seven in the 2005 test; intervals without a flow are left out.
        """
        edges_s = sorted({edge for flow in self.flows for edge in (flow.start_s, flow.stop_s)})
        regions: list[Region] = []
        for start_s, stop_s in pairwise(edges_s):
            present = tuple(
                flow.name
                for flow in self.flows
                if flow.start_s <= start_s and flow.stop_s >= stop_s
            )
            if present:
                regions.append(Region(len(regions) + 1, start_s, stop_s, present))
        return tuple(regions)


def _flow(number: int, stack: str, start_s: float, stop_s: float) -> Flow:
    return Flow(f"flow{number}", "sender", "receiver", stack, start_s, stop_s, FIRST_PORT + number)


def seven_regions(stack: str | Sequence[str], region_s: float) -> Schedule:
    """Return the schedule of the 2005 test: four flows that start one region apart.

    They stop in reverse order. With several stacks, the flows take these in turn. Source: the
    paper, section III.A; with ``region_s`` 120 the test lasts 16 minutes.
    """
    stacks = [stack] if isinstance(stack, str) else stack
    flows = tuple(
        _flow(
            number,
            stacks[(number - 1) % len(stacks)],
            (number - 1) * region_s,
            (REGIONS - number + 1) * region_s,
        )
        for number in range(1, FLOWS + 1)
    )
    return Schedule(SEVEN_REGIONS, flows, REGIONS * region_s, region_s)


def simultaneous(stacks: Sequence[str], region_s: float) -> Schedule:
    """Return a schedule with one flow of each stack, all for the length of one region."""
    flows = tuple(_flow(number, stack, 0.0, region_s) for number, stack in enumerate(stacks, 1))
    return Schedule(TOGETHER, flows, region_s, region_s)


def staggered(stacks: Sequence[str], region_s: float, apart_s: float | None = None) -> Schedule:
    """Return a schedule with one flow of each stack that start ``apart_s`` apart: one region.

    All flows stop at the end of the schedule, one region after the last start.
    """
    apart_s = region_s if apart_s is None else apart_s
    duration_s = (len(stacks) - 1) * apart_s + region_s
    flows = tuple(
        _flow(number, stack, (number - 1) * apart_s, duration_s)
        for number, stack in enumerate(stacks, 1)
    )
    return Schedule(JOINING, flows, duration_s, region_s)


#: The function of each schedule, by its name; it takes stack labels and a region's length in s.
SCHEDULES: Mapping[str, Callable[[Sequence[str], float], Schedule]] = {
    SEVEN_REGIONS: seven_regions,
    TOGETHER: simultaneous,
    JOINING: staggered,
}
