"""Schedule: who sends to whom with which stack, from when to when.

Plain data, shared by host and guest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from farpath.base.errors import BadInputError

#: The 2005 test: flows join one region apart and leave last in, first out, so with
#: all of them present the region is twice as long (paper, section III.A, figure 1).
SEVEN_REGIONS = "seven-regions"
#: All flows at once, and one region after another.
TOGETHER = "together"
JOINING = "joining"
FLOWS = 4
REGIONS = 2 * FLOWS
#: iperf3 runs no test for longer (MAX_TIME in src/iperf.h).
LONGEST_S = 86_400.0
#: Flows of one direction, each with two processes.
MOST_FLOWS = 100
#: So often may a region go into a schedule: more often than flows can join and leave.
MOST_REGIONS = 1_000
#: Flow 1 has the next port.
FIRST_PORT = 5200


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
    """All flows of a run and how long it lasts.

    ``flows``: those that a run is about. ``reverse``: others, in the other direction, which
    no metric counts. Raises :class:`~farpath.base.errors.BadInputError` for times that contradict
    each other, and for too many flows or two of one name.
    """

    name: str
    flows: tuple[Flow, ...]
    duration_s: float
    region_s: float
    reverse: tuple[Flow, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.duration_s <= LONGEST_S:
            raise BadInputError(
                f"the schedule lasts {self.duration_s:g} s: it must last from 1 to {LONGEST_S:g} "
                "s; take a shorter REGION or fewer flows"
            )
        if not self.duration_s / MOST_REGIONS <= self.region_s <= self.duration_s:
            raise BadInputError(
                f"a region lasts {self.region_s:g} s: it must go from 1 to {MOST_REGIONS} times "
                f"into the schedule's {self.duration_s:g} s"
            )
        if not self.flows or max(len(self.flows), len(self.reverse)) > MOST_FLOWS:
            raise BadInputError(
                f"the schedule has {len(self.flows)} flows and {len(self.reverse)} in the other "
                f"direction: it must have from 1 to {MOST_FLOWS}, and none or as many back"
            )
        for flow in self.all_flows:
            if not 0 <= flow.start_s < flow.stop_s <= self.duration_s:
                raise BadInputError(
                    f"{flow.name} is there from {flow.start_s:g} to {flow.stop_s:g} s: that must "
                    f"lie within the schedule's {self.duration_s:g} s"
                )
        if len({flow.name for flow in self.all_flows}) < len(self.all_flows):
            raise BadInputError("two flows of the schedule have one name")

    @property
    def all_flows(self) -> tuple[Flow, ...]:
        """The flows of both directions."""
        return self.flows + self.reverse

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


def _flow(number: int, stack: str, start_s: float, stop_s: float) -> Flow:
    return Flow(f"flow{number}", "sender", "receiver", stack, start_s, stop_s, FIRST_PORT + number)


def seven_regions(stack: str | Sequence[str], region_s: float) -> Schedule:
    """The 2005 test: four flows, one region apart, last in first out.

    Of several stacks the flows take one after another, and begin again with the first.
    Source: the paper, section III.A; with ``region_s`` 120 it lasts 16 minutes.
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
    """One flow of each stack, all from the beginning to the end of one region."""
    flows = tuple(_flow(number, stack, 0.0, region_s) for number, stack in enumerate(stacks, 1))
    return Schedule(TOGETHER, flows, region_s, region_s)


def staggered(stacks: Sequence[str], region_s: float) -> Schedule:
    """One flow of each stack, each a region after the one before; all end together."""
    duration_s = len(stacks) * region_s
    flows = tuple(
        _flow(number, stack, (number - 1) * region_s, duration_s)
        for number, stack in enumerate(stacks, 1)
    )
    return Schedule(JOINING, flows, duration_s, region_s)


#: Every schedule by its name; each is made of stacks and the length of a region.
SCHEDULES: Mapping[str, Callable[[Sequence[str], float], Schedule]] = {
    SEVEN_REGIONS: seven_regions,
    TOGETHER: simultaneous,
    JOINING: staggered,
}
