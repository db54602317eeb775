"""Sites: the network of ``farpath up``: a switch for each site, with its hosts, and links of sites.

Cables are as those of a user's own network (topologies/own.py). There may be loops, so switches are
told where packets go: those from one host to another take the way of the least delay.

A cable between two guests has a far link in its middle, with a switch at each end::

    s1 --[loss, rest of the delay]-> f1 --[rate, buffer]-> g1 ------------------------------> s2
       <----------------------------    <-[rate, buffer]--    <-[loss, rest of the delay]--

The far link delays what leaves the buffer. Guests tell each other what their services do over
links of their own, which carry no packet of a service.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from farpath.base.errors import BadInputError
from farpath.spec.layout import Layout, Link, Node, Port
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import Bottleneck, NetemDelay, bottleneck_of
from farpath.spec.site_network import SiteNetwork
from farpath.spec.topology import Topology
from farpath.spec.user_network import Cable, Step, UserNetwork
from topologies.own import cable_links, host_pairs, middle_nodes

#: The name of the topology in plans.
NAME = "sites"
#: First letters of the switches at the ends of far links, and of the nodes at which guests tell
#: each other what their services do.
_FAR_ENDS, _CONTROL = "fg", "c"
#: What fits into a frame between two guests, in bytes.
CONTROL_MTU_BYTES = 9000


def network_of(plan: Plan) -> SiteNetwork:
    """Return the network of a plan; raises BadInputError if it has none."""
    if not isinstance(plan.user_network, SiteNetwork):
        raise BadInputError(
            problem="the plan's network is missing", remedy=f"a plan of topology {NAME} has one"
        )
    return plan.user_network


def lay_out(plan: Plan) -> Layout:
    """The network of a plan; its bottlenecks are all its links' rates, in the order of cables."""
    network = network_of(plan)
    links = site_links(plan, network)
    positions = _positions(network)
    nodes = [
        Node(name, *positions[name], name in network.hosts, network.guest_of(name))
        for name in (*network.hosts, *network.switches)
    ]
    for cable, chain in links.items():
        middles = middle_nodes(chain, positions)
        ends = [network.guest_of(cable.one), network.guest_of(cable.other)]
        sites = ends if chain[1:2] and chain[1].far_delays_s else ends[:1] * len(middles)
        nodes += [replace(node, site=site) for node, site in zip(middles, sites, strict=True)]
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


def site_links(plan: Plan, network: SiteNetwork) -> dict[Cable, list[Link]]:
    """Return the links of each cable; those of a cable between guests are three."""
    links = cable_links(plan, network)
    for number, far in enumerate(network.far, start=1):
        cable = network.cables[far.number]
        near_end, far_end = (f"{letter}{number}" for letter in _FAR_ENDS)
        there, back = (_delay_and_rate(plan, network, step) for step in both_steps(cable))
        mtu_bytes = plan.path.mtu_bytes
        links[cable] = [
            Link(Port(cable.one, cable.one_port, there[0]), Port(near_end, 1), mtu_bytes),
            Link(
                Port(near_end, 2, there[1]),
                Port(far_end, 1, back[1]),
                mtu_bytes,
                (far.there_ms / 1e3, far.back_ms / 1e3),
            ),
            Link(Port(far_end, 2), Port(cable.other, cable.other_port, back[0]), mtu_bytes),
        ]
    return links


def _delay_and_rate(
    plan: Plan, network: SiteNetwork, step: Step
) -> tuple[NetemDelay, Bottleneck | None]:
    """Return the qdiscs before a far link: what netem keeps of the delay, and the rate."""
    shaping = step.shaping
    rest_ms = round(shaping.delay_ms - network.far_ms(step), 9)
    netem = NetemDelay(rest_ms / 1e3, shaping.loss, shaping.jitter_ms / 1e3)
    if not shaping.rate_bps:
        return netem, None
    packets = shaping.buffer_packets
    size_bytes = packets * plan.path.frame_bytes
    return netem, bottleneck_of(plan, shaping.rate_bps, size_bytes, packets, shaping.queue)


def control_port(guest: int, other: int) -> Port:
    """Return the port of a guest by which it tells another what its services do."""
    return Port(f"{_CONTROL}{guest + 1}", other + 1)


def with_control_links(plan: Plan, layout: Layout) -> Layout:
    """Return a layout with the links by which its guests tell each other of services.

    They are not a part of the network. Each has the least delay of all far links. A layout without
    far links, or of another topology, stays as it is.
    """
    if plan.topology != NAME or not layout.far_links:
        return layout
    least_s = min(delay_s for link in layout.far_links for delay_s in link.far_delays_s or ())
    guests = range(layout.sites)
    nodes = [Node(f"{_CONTROL}{guest + 1}", 0.0, 0.0, False, guest) for guest in guests]
    links = [
        Link(
            control_port(one, other),
            control_port(other, one),
            CONTROL_MTU_BYTES,
            (least_s, least_s),
        )
        for one, other in combinations(guests, 2)
    ]
    return replace(layout, nodes=(*layout.nodes, *nodes), links=(*layout.links, *links))


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
    links = site_links(plan, network)
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
