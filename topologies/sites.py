"""Sites: the network of ``farpath up``: a switch for each site, with its hosts, and links of sites.

Cables are as those of a user's own network (topologies/own.py). There may be loops, so switches are
told where packets go: those from one host to another take the way of the least delay.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from farpath.base.errors import BadInputError
from farpath.spec.layout import Layout, Link, Node, Port
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import Bottleneck, NetemDelay
from farpath.spec.topology import Topology
from farpath.spec.user_network import Cable, Step, UserNetwork
from topologies.own import cable_links, host_pairs, middle_nodes

#: The name of the topology in plans.
NAME = "sites"


def network_of(plan: Plan) -> UserNetwork:
    """Return the network of a plan; raises BadInputError if it has none."""
    if plan.user_network is None:
        raise BadInputError(
            problem="the plan's network is missing", remedy=f"a plan of topology {NAME} has one"
        )
    return plan.user_network


def lay_out(plan: Plan) -> Layout:
    """The network of a plan; its bottlenecks are all its links' rates, in the order of cables."""
    network = network_of(plan)
    links = cable_links(plan, network)
    positions = _positions(network)
    nodes = [
        Node(name, *positions[name], is_host=name in network.hosts)
        for name in (*network.hosts, *network.switches)
    ]
    for chain in links.values():
        nodes += middle_nodes(chain, positions)
    return Layout(
        tuple(nodes),
        tuple(link for chain in links.values() for link in chain),
        bottlenecks=tuple(
            port.name
            for cable in links
            for step in both_steps(cable)
            for port in leaving(links, step)
            if isinstance(port.queue, Bottleneck)
        ),
        dropping={},
    )


def site_switches(network: UserNetwork, probes: Mapping[str, str]) -> dict[str, str]:
    """Return the switch of each site; ``probes``: a host of each site."""
    return {site: network.steps[probe][0].end for site, probe in probes.items()}


def both_steps(cable: Cable) -> tuple[Step, Step]:
    """Return the two directions of a cable."""
    return Step(cable, is_there=True), Step(cable, is_there=False)


def leaving(links: Mapping[Cable, Sequence[Link]], step: Step) -> list[Port]:
    """Return the ports by which packets leave nodes on a cable in one direction, in their order."""
    chain = links[step.cable]
    return [link.one for link in chain] if step.is_there else [link.other for link in chain[::-1]]


def shaping_ports(links: Mapping[Cable, Sequence[Link]], step: Step) -> tuple[str, str]:
    """Return the ports with the delay and with the rate of a direction; empty for none."""
    ports = leaving(links, step)
    delays = [port.name for port in ports if isinstance(port.queue, NetemDelay)]
    rates = [port.name for port in ports if isinstance(port.queue, Bottleneck)]
    return next(iter(delays), ""), next(iter(rates), "")


def way_ports(plan: Plan, start: str, end: str) -> list[Port]:
    """Return the ports by which packets from one node to another leave nodes, in their order."""
    network = network_of(plan)
    links = cable_links(plan, network)
    return [port for step in network.way(start, end) for port in leaving(links, step)]


def _positions(network: UserNetwork) -> dict[str, tuple[float, float]]:
    """Return columns and rows in a picture: the sites on a circle, each with its hosts outside."""
    sites, positions = len(network.switches), dict[str, tuple[float, float]]()
    radius = max(2.0, 0.7 * sites)
    for number, switch in enumerate(network.switches):
        angle = 2 * math.pi * number / sites - math.pi
        hosts = [step.end for step in network.steps[switch] if step.end in network.hosts]
        positions[switch] = (radius * math.cos(angle), radius * math.sin(angle))
        for place, host in enumerate(hosts, start=1):
            spread = angle + (place - (len(hosts) + 1) / 2) * 1.1 / max(sites, len(hosts))
            outer = radius + 2.0
            positions[host] = (outer * math.cos(spread), outer * math.sin(spread))
    left = min(column for column, _ in positions.values())
    top = min(row for _, row in positions.values())
    return {
        name: (round(column - left, 3), round(row - top, 3))
        for name, (column, row) in positions.items()
    }


TOPOLOGY = Topology(lay_out, host_pairs, bottlenecks=range(101), is_of_file=True)
