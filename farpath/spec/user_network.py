"""Own network: the hosts, switches and cables of a user's own topology, as plain data.

Switches learn where hosts are by flooding, which never ends in a loop, so they have none. Hosts
pass nothing on, and may have several cables. So there is one way between two hosts by given cables,
and its delay is the sum of its cables' delays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from farpath.base.errors import BadInputError
from farpath.spec.aqm import Aqm
from farpath.spec.background import RATE_BPS_RANGE
from farpath.spec.path import JITTER_MS_RANGE, LEAST_JITTER_MS, LEAST_NETEM_CHANCE, LOSS_RANGE

#: The name of a node: with "-eth99" it is at most 15 letters (IFNAMSIZ in include/uapi/linux/if.h).
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,8}")
#: Names that nodes cannot have: those of the lab's own hosts.
TAKEN_NAMES = ("pinger", "background")
#: Most nodes; each host is a network namespace.
MOST_NODES = 100
MOST_PORT = 99
#: Ranges of a cable's delay in one direction, in ms, and of its buffer.
DELAY_MS_RANGE = (0.0, 5_000.0)
BUFFER_PACKETS_RANGE = (2, 100_000)
Pair = tuple[str, str]


@dataclass(frozen=True)
class Shaping:
    """What a cable does to the packets of one direction: first delay and loss, then the rate.

    ``rate_bps``: of whole Ethernet frames; 0 for no rate. ``buffer_packets``: what may wait for the
    rate; 0 without one. ``delay_ms``, ``jitter_ms``: delay, and its largest deviation in either
    direction. ``loss``: probability that a packet is lost. ``queue``: the active queue that waits
    for the rate, of at most ``buffer_packets``; None for one that drops at its tail. Raises
    BadInputError for a value out of range.
    """

    rate_bps: int = 0
    buffer_packets: int = 0
    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    loss: float = 0.0
    queue: Aqm | None = None

    def __post_init__(self) -> None:
        if self.rate_bps:
            _require("rate_bps", self.rate_bps, RATE_BPS_RANGE)
            _require("buffer_packets", self.buffer_packets, BUFFER_PACKETS_RANGE)
        elif self.buffer_packets or self.queue:
            raise BadInputError(
                problem="a cable has a queue and no rate_bps, without which nothing waits",
                remedy="give both, or none of them",
            )
        _require("delay_ms", self.delay_ms, DELAY_MS_RANGE)
        _require("jitter_ms", self.jitter_ms, JITTER_MS_RANGE, LEAST_JITTER_MS)
        _require("loss", self.loss, LOSS_RANGE, LEAST_NETEM_CHANCE)
        if self.jitter_ms > self.delay_ms:
            raise BadInputError(
                problem=f"jitter_ms is {self.jitter_ms:g}",
                remedy=f"it must be at most delay_ms, {self.delay_ms:g}",
            )


def _require(name: str, value: float, allowed: Sequence[float], least: float = 0.0) -> None:
    """Raise BadInputError for a value out of range, or above 0 and below what netem keeps."""
    low, high = allowed
    if not low <= value <= high or 0 < value < least:
        kept = f", and 0 or at least {least:g}" if least else ""
        raise BadInputError(
            problem=f"{name} is {value:.12g}",
            remedy=f"it must be {low:,.12g} to {high:,.12g}{kept}",
        )


@dataclass(frozen=True)
class Cable:
    """A cable between two nodes. ``there``: from ``one`` to ``other``; ``back``: the other way.

    ``one_port``, ``other_port``: the numbers of its ports.
    """

    one: str
    one_port: int
    other: str
    other_port: int
    there: Shaping = Shaping()
    back: Shaping = Shaping()


@dataclass(frozen=True)
class Step:
    """A cable on the way of packets, and whether they go from ``one`` to ``other``."""

    cable: Cable
    is_there: bool

    @property
    def shaping(self) -> Shaping:
        """What the cable does to these packets."""
        return self.cable.there if self.is_there else self.cable.back

    @property
    def start(self) -> str:
        """The node that they leave."""
        return self.cable.one if self.is_there else self.cable.other

    @property
    def end(self) -> str:
        """The node at which they arrive."""
        return self.cable.other if self.is_there else self.cable.one

    @property
    def port(self) -> int:
        """The number of the port by which they leave the first node."""
        return self.cable.one_port if self.is_there else self.cable.other_port


def _drain_s(trip: Sequence[Step], frame_bytes: int) -> float:
    """Return the time in s until a round trip is empty, all its buffers full before."""
    waits_s = [
        8 * frame_bytes * step.shaping.buffer_packets / step.shaping.rate_bps
        for step in trip
        if step.shaping.rate_bps
    ]
    return round(sum(step.shaping.delay_ms for step in trip), 9) / 1e3 + sum(waits_s)


@dataclass(frozen=True)
class UserNetwork:
    """A user's own topology: hosts, and switches without a loop.

    A host with several cables has an address at each, and its flows take the first one, that with
    the lowest port. Raises BadInputError for anything else.
    """

    hosts: tuple[str, ...]
    switches: tuple[str, ...]
    cables: tuple[Cable, ...]

    def __post_init__(self) -> None:
        self._check_names()
        self._check_cables()
        self._check_tree()

    def _check_names(self) -> None:
        nodes = [*self.hosts, *self.switches]
        if len(self.hosts) < 2 or not self.switches or len(nodes) > MOST_NODES:
            raise BadInputError(
                problem=f"there are {len(self.hosts)} hosts and {len(self.switches)} switches",
                remedy="there must be at least two hosts and one switch, and at most "
                f"{MOST_NODES} nodes",
            )
        for number, name in enumerate(nodes):
            if not NAME.fullmatch(name) or name in TAKEN_NAMES or name in nodes[:number]:
                raise BadInputError(
                    problem=f"a node is called '{name}'",
                    remedy="a name has a letter and then at most eight letters, digits and _, none "
                    f"is there twice, and {' and '.join(TAKEN_NAMES)} are the lab's own",
                )

    def _check_cables(self) -> None:
        ports: set[tuple[str, int]] = set()
        for cable in self.cables:
            for node, port in ((cable.one, cable.one_port), (cable.other, cable.other_port)):
                if node not in (*self.hosts, *self.switches):
                    raise BadInputError(problem=f"a link leads to '{node}', which is no node")
                least = 0 if node in self.hosts else 1
                if not least <= port <= MOST_PORT or (node, port) in ports:
                    raise BadInputError(
                        problem=f"{node} has a link at port {port}",
                        remedy=f"a port is {least} to {MOST_PORT} and has one link",
                    )
                ports.add((node, port))
            if {cable.one, cable.other} <= set(self.hosts):
                raise BadInputError(
                    problem=f"{cable.one} and {cable.other} are hosts with a link between them",
                    remedy="put a switch there",
                )
        for host in self.hosts:
            count = sum(node == host for node, _ in ports)
            self._check_count(host, count)

    def _check_count(self, host: str, count: int) -> None:
        """Raise BadInputError for a host with more or fewer links than it can have."""
        if not count:
            raise BadInputError(
                problem=f"host {host} has 0 links", remedy="each host has one, to a switch"
            )

    def _check_tree(self) -> None:
        reached = {self.hosts[0]}
        todo = list(self.cables)
        while touching := [c for c in todo if c.one in reached or c.other in reached]:
            for cable in touching:
                todo.remove(cable)
                reached |= {cable.one, cable.other}
        joined = {name: name for name in self.switches}
        for cable in self.cables:
            if {cable.one, cable.other} <= set(self.switches):
                one, other = joined[cable.one], joined[cable.other]
                if one == other:
                    raise BadInputError(
                        problem=f"the link of {cable.one} and {cable.other} closes a loop, in "
                        "which switches without a controller flood packets forever, and STP is "
                        "not mapped",
                        remedy="leave one link of the loop out",
                    )
                joined = {name: one if of == other else of for name, of in joined.items()}
        lost = [name for name in (*self.hosts, *self.switches) if name not in reached]
        if lost:
            raise BadInputError(
                problem=f"no way leads from {self.hosts[0]} to {', '.join(lost)}",
                remedy="link them, or leave them out",
            )

    @property
    def sizes(self) -> str:
        """How many hosts and switches there are, for people."""
        switches = len(self.switches)
        return f"{len(self.hosts)} hosts, {switches} switch{'es' if switches > 1 else ''}"

    @cached_property
    def steps(self) -> dict[str, tuple[Step, ...]]:
        """The cables at each node, as steps that leave it."""
        found: dict[str, list[Step]] = {name: [] for name in (*self.hosts, *self.switches)}
        for cable in self.cables:
            found[cable.one].append(Step(cable, is_there=True))
            found[cable.other].append(Step(cable, is_there=False))
        for host in self.hosts:
            found[host].sort(key=lambda step: step.port)
        return {name: tuple(steps) for name, steps in found.items()}

    def way(self, start: str, end: str) -> tuple[Step, ...]:
        """Return the way from one node to another, by the first cables of hosts.

        Raises BadInputError if these do not lead to each other.
        """
        arriving = self.steps[end][0].cable if end in self.hosts else None
        for way in self.ways(start, end):
            leaves_first = start not in self.hosts or way[0] == self.steps[start][0]
            if not way or (leaves_first and arriving in (None, way[-1].cable)):
                return way
        raise BadInputError(
            option="topology",
            problem=f"the first links of {start} and {end} do not lead to each other",
            remedy="let the first link of each lead to the other: connections begin there",
        )

    def ways(self, start: str, end: str) -> tuple[tuple[Step, ...], ...]:
        """Return the ways from one node to another, by each two cables of hosts that have one."""
        return tuple(self._ways(start, end, None))

    def _ways(self, start: str, end: str, before: Cable | None) -> Iterator[tuple[Step, ...]]:
        if start == end:
            yield ()
            return
        if start in self.hosts and before is not None:
            return
        for step in self.steps[start]:
            if step.cable != before:
                for rest in self._ways(step.end, end, step.cable):
                    yield (step, *rest)

    def round_trip(self, one: str, other: str) -> tuple[Step, ...]:
        """Return the way from one node to another and back."""
        return (*self.way(one, other), *self.way(other, one))

    def rtt_ms(self, one: str, other: str) -> float:
        """Return the base RTT between two nodes in ms: the sum of delays there and back."""
        return round(sum(step.shaping.delay_ms for step in self.round_trip(one, other)), 9)

    def jitter_ms(self, one: str, other: str) -> float:
        """Return by how much an RTT may differ from the base RTT, in ms."""
        return sum(step.shaping.jitter_ms for step in self.round_trip(one, other))

    def loss(self, one: str, other: str) -> float:
        """Return the probability that a packet is lost on its way from one node to another."""
        arrives = 1.0
        for step in self.way(one, other):
            arrives *= 1 - step.shaping.loss
        return 1 - arrives

    def drain_s(self, one: str, other: str, frame_bytes: int) -> float:
        """Return the time in s until the ways there and back are empty, all buffers full before."""
        trips = [
            (*there, *back) for there, back in product(self.ways(one, other), self.ways(other, one))
        ]
        return max(_drain_s(trip, frame_bytes) for trip in trips)

    @cached_property
    def queues(self) -> tuple[Aqm, ...]:
        """The active queues of its cables."""
        ways = [shaping for cable in self.cables for shaping in (cable.there, cable.back)]
        return tuple(shaping.queue for shaping in ways if shaping.queue)

    def rated(self, pairs: Sequence[Pair]) -> tuple[Step, ...]:
        """Return the steps with a rate on all ways of pairs of hosts, in their order, each once."""
        ways = [way for pair in pairs for way in (self.way(*pair), *self.ways(*pair))]
        on_ways = [step for way in ways for step in way if step.shaping.rate_bps]
        return tuple(dict.fromkeys(on_ways))

    def bottlenecks(self, pairs: Sequence[Pair]) -> tuple[Step, ...]:
        """Return the bottleneck of each pair's way, in the order of pairs, each once.

        It is the step with the lowest rate; of several such, the one that most pairs cross, and
        of these the first. A way without a rate has none.
        """
        ways = [self.way(*pair) for pair in pairs]
        crossed = Counter(step for way in ways for step in way)

        def narrowness(step: Step) -> tuple[int, int]:
            return step.shaping.rate_bps, -crossed[step]

        rated = ([step for step in way if step.shaping.rate_bps] for way in ways)
        return tuple(dict.fromkeys(min(steps, key=narrowness) for steps in rated if steps))
