"""A user's own network: the hosts, switches and cables of the Mininet topology in his file.

A cable's delay, loss and jitter come before its rate and buffer, so that delay and buffer never
mix. A port has one qdisc; a cable with both, in a direction, gets a switch more in its middle::

    h1 --[delay, loss]-> q1 --[rate, buffer]-> s1
       <-[rate, buffer]--    <-[delay, loss]--

What an era or a stack puts at a sending host's port (a card, pacing) comes before the cable's
delay, and its processor behind all that leads to the host.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, pairwise, zip_longest

from farpath.base.errors import BadInputError
from farpath.spec.hosts import Pair, Sender
from farpath.spec.layout import Layout, Link, Node, Port
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import (
    Bottleneck,
    NetemDelay,
    Qdisc,
    bottleneck_of,
    nic_qdisc,
    processor_qdisc,
)
from farpath.spec.topology import Topology
from farpath.spec.user_network import Cable, Shaping, Step, UserNetwork

#: The first letter of the switches within cables; the user's nodes come first in choosing names.
_MIDDLE = "q"


def lay_out(plan: Plan) -> Layout:
    """The network of a plan, with what its cables, hosts and era do to packets at the ports.

    Its bottlenecks are those of the flows' ways, the first flow's before the others'. The other
    queues with a rate on these ways are its further queues.
    """
    network = plan.user_network
    if network is None:
        raise BadInputError(
            problem="plan.user_network is missing",
            remedy=f"a plan of topology {plan.topology} has one",
        )
    chains = cable_links(plan, network)
    positions = _positions(plan, network, {cable: len(chain) for cable, chain in chains.items()})
    nodes = [
        Node(name, *positions[name], is_host=name in network.hosts)
        for name in (*network.hosts, *network.switches)
    ]
    rated: dict[Step, str] = {}
    for cable, chain in chains.items():
        nodes += middle_nodes(chain, positions)
        for step in (Step(cable, is_there=True), Step(cable, is_there=False)):
            ports = [link.one if step.is_there else link.other for link in chain]
            for port in ports:
                if isinstance(port.queue, Bottleneck):
                    rated[step] = port.name
    bottlenecks = network.bottlenecks(plan.pairs)
    others = [step for step in network.rated(plan.pairs) if step not in bottlenecks]
    return Layout(
        tuple(nodes),
        tuple(link for chain in chains.values() for link in chain),
        bottlenecks=tuple(rated[step] for step in bottlenecks),
        dropping={},
        further_queues=tuple(rated[step] for step in others),
    )


def cable_links(plan: Plan, network: UserNetwork) -> dict[Cable, list[Link]]:
    """Return the links of each cable."""
    middles = _middle_names(network)
    chains = {}
    for cable in network.cables:
        there = _direction(plan, cable.there, cable.one, cable.other)
        back = _direction(plan, cable.back, cable.other, cable.one)
        chains[cable] = _chain(cable, there, back, middles, plan.path.mtu_bytes)
    return chains


def _direction(plan: Plan, shaping: Shaping, start: str, end: str) -> list[Qdisc]:
    """Return the qdiscs that packets cross on a cable in one direction, in their order."""
    senders = {flow.sender for flow in plan.schedule.flows}
    qdiscs: list[Qdisc | None] = [nic_qdisc(plan, start) if start in senders else None]
    if shaping.delay_ms or shaping.loss:
        delay_s, jitter_s = shaping.delay_ms / 1e3, shaping.jitter_ms / 1e3
        qdiscs.append(NetemDelay(delay_s, shaping.loss, jitter_s))
    if shaping.rate_bps:
        packets = shaping.buffer_packets
        size = packets * plan.path.frame_bytes
        qdiscs.append(bottleneck_of(plan, shaping.rate_bps, size, packets, shaping.queue))
    qdiscs.append(processor_qdisc(plan) if end in senders else None)
    return [qdisc for qdisc in qdiscs if qdisc]


def _middle_names(network: UserNetwork) -> Iterator[str]:
    """Yield names for switches within cables, none of which is a node's."""
    names = (f"{_MIDDLE}{number}" for number in count(1))
    return (name for name in names if name not in (*network.hosts, *network.switches))


def _chain(
    cable: Cable,
    there: Sequence[Qdisc],
    back: Sequence[Qdisc],
    middles: Iterator[str],
    mtu_bytes: int,
) -> list[Link]:
    """Return the links of a cable: one, and one more for each further qdisc of a direction."""
    lengths = max(len(there), len(back), 1)
    ends = [(cable.one, cable.one_port, 0)]
    ends += [(next(middles), 2, 1) for _ in range(lengths - 1)]
    ends += [(cable.other, 0, cable.other_port)]
    # The k-th qdisc is at the k-th port that packets leave by
    queues = list(zip_longest(there, back, fillvalue=None))
    queues += [(None, None)] * (lengths - len(queues))
    return [
        Link(
            Port(one, one_port, queues[number][0]),
            Port(other, other_port, queues[lengths - 1 - number][1]),
            mtu_bytes,
        )
        for number, ((one, one_port, _), (other, _, other_port)) in enumerate(pairwise(ends))
    ]


def middle_nodes(chain: Sequence[Link], positions: dict[str, tuple[float, float]]) -> list[Node]:
    """Return the switches within a cable, spread between its ends."""
    one, other = positions[chain[0].one.node], positions[chain[-1].other.node]
    row = max(one[1], other[1])
    return [
        Node(link.other.node, one[0] + (other[0] - one[0]) * part, row, is_host=False)
        for number, link in enumerate(chain[:-1], start=1)
        for part in [number / len(chain)]
    ]


def _positions(
    plan: Plan, network: UserNetwork, lengths: Mapping[Cable, int]
) -> dict[str, tuple[float, float]]:
    """Return columns and rows of nodes in a picture: a tree that grows to the right.

    ``lengths``: of cables, in columns. The root is the first sending host, in one row with its way
    to its receiver. Each other end has a row of its own. Hosts at the root's switch that only send
    are below the root.
    """
    root, receiver = plan.pairs[0]
    switch = network.steps[root][0].end
    on_way = {step.end for step in network.way(root, receiver)}
    sending = {one for one, _ in plan.pairs} - {other for _, other in plan.pairs}
    positions: dict[str, tuple[float, float]] = {}
    rows, sending_rows = count(), count(1)
    #: Nodes that are placed or being placed: a host with several cables is met again.
    placing: set[str] = set()

    def place(name: str, column: float, before: str) -> float:
        """Place a node and all behind it; return its row, which is that of the first behind it."""
        placing.add(name)
        steps = []
        for step in network.steps[name]:
            if step.end != before and step.end not in placing:
                placing.add(step.end)
                steps.append(step)
        placed = []
        for step in sorted(steps, key=lambda step: step.end not in on_way):
            if name == switch and step.end in sending and not network.steps[step.end][1:]:
                positions[step.end] = (column - lengths[step.cable], float(next(sending_rows)))
            else:
                placed.append(place(step.end, column + lengths[step.cable], name))
        positions[name] = (column, placed[0] if placed else float(next(rows)))
        return positions[name][1]

    place(root, 0.0, "")
    return positions


def host_pairs(_bottlenecks: int, _senders: Sequence[Sender]) -> tuple[Pair, ...]:
    """Return no pairs: those of the flows are the network's."""
    return ()


TOPOLOGY = Topology(lay_out, host_pairs, bottlenecks=range(1, 101), is_of_file=True)
