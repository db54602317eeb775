"""Layout: a topology as plain data: hosts, switches, routers, links, and the qdisc of each port.

The lab's Mininet network is built from a layout and ``farpath draw`` draws it, so both show
the same topology.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from farpath.spec.qdiscs import NetemDelay, NicQueue, Qdisc
from farpath.spec.seeds import stream_seed


@dataclass(frozen=True)
class Node:
    """A host, a switch or a router, with its position in a drawing; columns count from the senders.

    ``site``: number of the site at which it stands. Each site runs in a guest of its own.
    ``hop``: of a router, the name of the hop that it is; empty for other nodes.
    """

    name: str
    column: float
    row: float
    is_host: bool
    site: int = 0
    hop: str = ""


@dataclass(frozen=True)
class Port:
    """A port of a node. ``queue``: the qdisc of packets that leave by it; None for no qdisc."""

    node: str
    number: int
    queue: Qdisc | None = None

    @property
    def name(self) -> str:
        """The interface's name.

        >>> Port("s1", 2).name
        's1-eth2'
        """
        return f"{self.node}-eth{self.number}"

    def seeded(self, seed: int) -> Port:
        """Return it with the seed of its netem, of the plan's seed and the port's name."""
        if not isinstance(self.queue, NetemDelay | NicQueue):
            return self
        queue_seed = stream_seed(seed, "netem", self.name)
        return replace(self, queue=replace(self.queue, seed=queue_seed))


@dataclass(frozen=True)
class Link:
    """A link between two ports with the same MTU.

    ``far_delays_s``: of a far link, which joins two sites, the delays of what leaves each port.
    """

    one: Port
    other: Port
    mtu_bytes: int
    far_delays_s: tuple[float, float] | None = None


@dataclass(frozen=True)
class Layout:
    """A complete topology.

    ``bottlenecks``: names of the ports with a bottleneck; the record has samples of the first.
    ``dropping``: names of the ports at which droppers count, by direction. ``further_queues``:
    names of other ports whose queues are sampled, beside the bottlenecks.
    """

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    bottlenecks: tuple[str, ...]
    dropping: Mapping[str, tuple[str, ...]]
    further_queues: tuple[str, ...] = ()

    @property
    def ports(self) -> tuple[Port, ...]:
        """All ports of all nodes."""
        return tuple(port for link in self.links for port in (link.one, link.other))

    @property
    def queues(self) -> tuple[str, ...]:
        """The names of the ports whose queues are sampled, the record's first."""
        return (*self.bottlenecks, *self.further_queues)

    @property
    def losing(self) -> tuple[str, ...]:
        """The names of the ports that lose packets at random."""
        return tuple(
            port.name
            for port in self.ports
            if isinstance(port.queue, NetemDelay) and port.queue.loss
        )

    @property
    def sites(self) -> int:
        """The number of sites."""
        return 1 + max(node.site for node in self.nodes)

    @property
    def far_links(self) -> tuple[Link, ...]:
        """The links that join two sites."""
        return tuple(link for link in self.links if link.far_delays_s)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of all end hosts."""
        return tuple(node.name for node in self.nodes if node.is_host)

    @property
    def routers(self) -> tuple[str, ...]:
        """The names of all routers, in their order from the senders."""
        return tuple(node.name for node in self.nodes if node.hop)

    def seeded(self, seed: int) -> Layout:
        """Return it with a seed for each netem, so that all draw random numbers of their own.

        A port has one direction of one link, and so no two of them draw the same.
        """
        links = tuple(
            replace(link, one=link.one.seeded(seed), other=link.other.seeded(seed))
            for link in self.links
        )
        return replace(self, links=links)

    def peer(self, host: str) -> Port:
        """Return the switch's port to which a host is linked by its first cable."""
        return next(link.other for link in self.links if link.one.node == host)

    def host_ports(self, host: str) -> tuple[Port, ...]:
        """Return the ports of a host by their numbers."""
        return self._ports_of.get(host, ())

    @cached_property
    def _ports_of(self) -> dict[str, tuple[Port, ...]]:
        """The ports of each host."""
        found: dict[str, tuple[Port, ...]] = dict.fromkeys(self.hosts, ())
        for port in self.ports:
            if port.node in found:
                found[port.node] += (port,)
        return {
            host: tuple(sorted(ports, key=lambda one: one.number)) for host, ports in found.items()
        }

    @cached_property
    def further_ports(self) -> dict[str, int]:
        """The places of the ports of hosts behind the first of each, from 0, by their names."""
        further = [port.name for host in self.hosts for port in self.host_ports(host)[1:]]
        return {name: place for place, name in enumerate(further)}

    def site_of(self, node_name: str) -> int:
        """Return the site of a node."""
        return next(node.site for node in self.nodes if node.name == node_name)

    @property
    def mtus_bytes(self) -> dict[str, int]:
        """The MTU of each port, by its name."""
        return {port.name: link.mtu_bytes for link in self.links for port in (link.one, link.other)}


@dataclass
class Wiring:
    """Builds a layout. Ports are numbered in the order of links, from 0 at hosts, else from 1."""

    nodes: dict[str, Node] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)

    def host(self, name: str, column: float, row: float = 0.0, site: int = 0) -> str:
        """Add an end host; returns its name."""
        self.nodes[name] = Node(name, column, row, is_host=True, site=site)
        return name

    def switch(self, column: float, row: float = 0.0, site: int = 0) -> str:
        """Add a switch with the next number; returns its name, as ``s1``."""
        others = (node for node in self.nodes.values() if not node.is_host and not node.hop)
        name = f"s{1 + sum(1 for _ in others)}"
        self.nodes[name] = Node(name, column, row, is_host=False, site=site)
        return name

    def router(self, hop: str, column: float, row: float = 0.0, site: int = 0) -> str:
        """Add an IP router with the next number; returns its name, as ``r1``.

        ``hop``: the name of the hop that it is. Its first link leads towards the senders.
        """
        name = f"r{1 + sum(1 for node in self.nodes.values() if node.hop)}"
        self.nodes[name] = Node(name, column, row, is_host=False, site=site, hop=hop)
        return name

    def link(
        self,
        one: str,
        other: str,
        mtu_bytes: int,
        from_one: Qdisc | None = None,
        from_other: Qdisc | None = None,
        far_delays_s: tuple[float, float] | None = None,
    ) -> Link:
        """Add a link between two nodes.

        ``from_one``, ``from_other``: the qdiscs of packets that leave each of them.
        ``far_delays_s``: the delays of these packets, if the nodes are at different sites.
        """
        ports = self._port(one, from_one), self._port(other, from_other)
        link = Link(*ports, mtu_bytes, far_delays_s)
        self.links.append(link)
        return link

    def _port(self, node: str, queue: Qdisc | None) -> Port:
        used = sum(node in (link.one.node, link.other.node) for link in self.links)
        return Port(node, used if self.nodes[node].is_host else used + 1, queue)

    def layout(
        self, bottlenecks: tuple[str, ...], dropping: Mapping[str, tuple[str, ...]]
    ) -> Layout:
        """Return the layout of all nodes and links so far."""
        return Layout(tuple(self.nodes.values()), tuple(self.links), bottlenecks, dropping)
