"""Routers: how a network namespace becomes an IP router of a row, and what is read back of it.

A router sends what is for the senders' subnet to the router before it and all else to the next
one. All its neighbours are permanent, as those of hosts. Over IPv6 its ports have no multicast:
a router would join a group on each of them and report that (dev_forward_change in
net/ipv6/addrconf.c).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from farpath.guest import addresses
from farpath.spec.layout import Layout, Port

#: The sysctl that makes a namespace forward packets, by the version of IP.
FORWARDING = {4: "net.ipv4.ip_forward", 6: "net.ipv6.conf.all.forwarding"}


@dataclass(frozen=True)
class Route:
    """A route of a router, as ip prints it: its destination, and the address of the next hop."""

    destination: str
    via: str

    def __str__(self) -> str:
        return f"{self.destination} via {self.via}"


@dataclass(frozen=True)
class Router:
    """A router of a layout, by its name, for a version of IP."""

    layout: Layout
    name: str
    ip_version: int

    @property
    def ports(self) -> tuple[Port, Port]:
        """Its ports, the one towards the senders first."""
        near, far = (port for port in self.layout.ports if port.node == self.name)
        return near, far

    @property
    def addresses(self) -> list[str]:
        """The addresses of its ports."""
        return [self._address(port) for port in self.ports]

    def _address(self, port: Port) -> str:
        return addresses.router_address(self.layout, port, self.ip_version)

    @property
    def routes(self) -> list[Route]:
        """Its routes beyond its own two subnets."""
        names = self.layout.routers
        place = names.index(self.name)
        routes = []
        if place + 1 < len(names):
            following = Router(self.layout, names[place + 1], self.ip_version)
            routes.append(Route("default", following.addresses[0]))
        if place:
            former = Router(self.layout, names[place - 1], self.ip_version)
            routes.append(Route(addresses.senders_subnet(self.ip_version), former.addresses[1]))
        return routes

    @property
    def settings(self) -> dict[str, str]:
        """Its sysctls; those that silence ports come before those that would let them speak."""
        settings: dict[str, str] = {}
        for port in self.ports if self.ip_version == 6 else ():
            settings |= addresses.quiet_settings(port.name)
        return {**settings, FORWARDING[self.ip_version]: "1"}

    @property
    def silent_lines(self) -> list[str]:
        """Lines for ``ip -batch``, which keep its ports silent when IPv6 is enabled."""
        return [f"link set dev {port.name} arp off multicast off" for port in self.ports]

    @property
    def ip_lines(self) -> list[str]:
        """Lines for ``ip -batch`` with its addresses, neighbours and routes."""
        length = addresses.prefix_length(self.layout, self.ip_version)
        undetected = " nodad" if self.ip_version == 6 else ""
        lines = []
        for port in self.ports:
            mac = addresses.router_mac_address(self.layout, port)
            neighbours = addresses.router_neighbours(self.layout, port, self.ip_version)
            lines += [
                f"link set dev {port.name} address {mac}",
                f"address add {self._address(port)}/{length} dev {port.name}{undetected}",
                *addresses.neighbour_lines(port.name, neighbours),
            ]
        return [*lines, *(f"route add {route}" for route in self.routes)]

    def route_differences(self, found: Iterable[dict[str, Any]]) -> list[str]:
        """Describe how its routes differ from the planned ones, one sentence each.

        ``found``: what ``ip -j route`` printed in its network namespace.
        """
        actual = {Route(route["dst"], route["gateway"]) for route in found if "gateway" in route}
        if actual == set(self.routes):
            return []
        return [f"routes of {self.name} are {', '.join(sorted(map(str, actual))) or 'none'}"]


def host_names(layout: Layout, ip_version: int) -> str:
    """Return the lines of a hosts file (hosts(5)) with all hosts, and routers by their hops."""
    named = [(addresses.address(layout, host, ip_version), host) for host in layout.hosts]
    for node in layout.nodes:
        if node.hop:
            router = Router(layout, node.name, ip_version)
            named += [(ip_address, node.hop) for ip_address in router.addresses]
    return "".join(f"{ip_address} {name}\n" for ip_address, name in named)
