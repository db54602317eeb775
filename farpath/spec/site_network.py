"""Site network: sites with hosts, and links between them, on which packets take the nearest way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import count, product
from typing import Any

from farpath.base.errors import BadInputError
from farpath.spec.plan import Plan
from farpath.spec.user_network import Step, UserNetwork
from farpath.spec.wire import from_wire


@dataclass(frozen=True)
class FarCable:
    """A cable between switches of two guests.

    ``number``: among the network's cables. ``there_ms``, ``back_ms``: the part of each direction's
    delay that no packet falls short of, whatever the faults: the guests' lookahead. Jitter and the
    rest are netem's.
    """

    number: int
    there_ms: float
    back_ms: float


@dataclass(frozen=True)
class SiteNetwork(UserNetwork):
    """A network that may have loops: packets take the way of the least delay.

    Each switch is a site. Switches are told the ways and do not flood. ``guests``: the number of
    the guest in which each switch is with its hosts, in the order of switches; empty for one guest.
    ``far``: the cables between guests.
    """

    guests: tuple[int, ...] = ()
    far: tuple[FarCable, ...] = ()

    def guest_of(self, node: str) -> int:
        """Return the number of the guest of a host or switch."""
        if not self.guests:
            return 0
        switch = self.steps[node][0].end if node in self.hosts else node
        return self.guests[self.switches.index(switch)]

    def far_ms(self, step: Step) -> float:
        """Return the part of a direction's delay that is a far link's, in ms; 0 in one guest."""
        for one in self.far:
            if self.cables[one.number] == step.cable:
                return one.there_ms if step.is_there else one.back_ms
        return 0.0

    def _check_count(self, host: str, count: int) -> None:
        """Raise BadInputError for a host without a link; several lead to several sites."""
        if not count:
            raise BadInputError(problem=f"host {host} has no link", remedy="link it to a site")

    def _check_tree(self) -> None:
        """Raise BadInputError unless all nodes are connected."""
        lost = [name for name in self.steps if name not in self._ways_from(self.hosts[0])]
        if lost:
            raise BadInputError(
                problem=f"no way leads from {self.hosts[0]} to {', '.join(lost)}",
                remedy="link them, or leave them out",
            )

    def way(self, start: str, end: str) -> tuple[Step, ...]:
        """Return the way of the least delay from one node to another.

        Of several such it is one with the fewest cables, and of these that of the first cables. Of
        a host with several cables it is that by the first one.
        """
        return self.way_by(self._access(start), self._access(end), start, end)

    def ways(self, start: str, end: str) -> tuple[tuple[Step, ...], ...]:
        """Return the ways from one node to another, by each two cables of hosts."""
        firsts = self.steps[start] if start in self.hosts else (None,)
        lasts = self.steps[end] if end in self.hosts else (None,)
        return tuple(self.way_by(*both, start, end) for both in product(firsts, lasts))

    def _access(self, node: str) -> Step | None:
        """Return the first cable of a host, as a step that leaves it; None for a switch."""
        return self.steps[node][0] if node in self.hosts else None

    def way_by(
        self, first: Step | None, last: Step | None, start: str, end: str
    ) -> tuple[Step, ...]:
        """Return the way from one node to another by given cables of hosts.

        ``first``, ``last``: the cables as steps that leave their hosts; None for switches.
        """
        if start == end:
            return ()
        between = self._ways_from(first.end if first else start)[last.end if last else end]
        arriving = (replace(last, is_there=not last.is_there),) if last else ()
        return (*((first,) if first else ()), *between, *arriving)

    def _ways_from(self, start: str) -> Mapping[str, tuple[Step, ...]]:
        """Return the way to each node by Dijkstra's algorithm (Numerische Mathematik 1, 1959)."""
        if start not in self._found:
            found: dict[str, tuple[Step, ...]] = {}
            numbers = count()
            todo: list[tuple[float, int, int, str, tuple[Step, ...]]] = []
            heappush(todo, (0.0, 0, next(numbers), start, ()))
            while todo:
                delay_ms, cables, _, node, way = heappop(todo)
                if node in found:
                    continue
                found[node] = way
                if node in self.hosts and node != start:
                    continue
                for step in self.steps[node]:
                    ahead_ms = round(delay_ms + step.shaping.delay_ms, 9)
                    ahead = (ahead_ms, cables + 1, next(numbers), step.end, (*way, step))
                    heappush(todo, ahead)
            self._found[start] = found
        return self._found[start]

    @cached_property
    def _found(self) -> dict[str, dict[str, tuple[Step, ...]]]:
        """The ways from each node that has been asked for."""
        return {}


def plan_of_sites(data: Mapping[str, Any]) -> Plan:
    """Build a plan with a site network from the output of ``Plan.as_dict``, or from its JSON."""
    plan = Plan.from_dict({**data, "network": None})
    return replace(plan, user_network=from_wire(SiteNetwork, data["network"]))
