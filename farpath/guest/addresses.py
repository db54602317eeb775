"""Addresses of hosts and routers, by the version of IP, and settings that keep IPv6 ports silent.

Without routers all hosts are in one subnet. A row of n routers has n + 1, numbered from 1 at the
senders: each router is in two, and is reached at the address of the nearer port.

IPv6 is enabled only on the ports that carry it, since every port would announce itself on
the path. These ports generate no address, accept no router advertisements and detect no
duplicates. They resolve no neighbours either (NOARP), so that they neither join nor report a
solicited-node group (addrconf_join_solict in net/ipv6/addrconf.c); all neighbours are
permanent entries.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from farpath.spec.layout import Layout, Port

#: Destination of background traffic: an address that no host has. A permanent neighbour entry
#: sends it through the bottleneck to the receiver. Its kernel does not forward packets and
#: drops these without an answer (ip_route_input_slow and ip_error in net/ipv4/route.c,
#: ip6_forward in net/ipv6/ip6_output.c) and without reassembly.
SINK_ADDRESS = {4: "10.255.255.1", 6: "fd00::ffff"}
#: The same where hosts are in several subnets, in that of the receiver.
_SUBNET_SINK = {4: "10.{}.255.254", 6: "fd00:0:0:{:x}::ffff"}
#: The lab's unique local prefix (RFC 4193) and its length in bits, and that of a subnet.
_PREFIX, _LENGTH = "fd00::", 64
_SUBNET_PREFIX = "fd00:0:0:{:x}::"
#: The lab's IPv4 network, with room for 65,534 hosts, and the length of its prefix in bits.
_NETWORK, _IPV4_LENGTH = "10.0", 8
_SUBNET_NETWORK, _SUBNET_IPV4_LENGTH = "10.{}", 16


def _number(layout: Layout, host: str) -> int:
    """Return the number of a host in its layout, from 1: the same at every site."""
    return 1 + layout.hosts.index(host)


def address(layout: Layout, host: str, ip_version: int) -> str:
    """Return the address of a host, at whichever site it is."""
    number = _number(layout, host)
    port = gateway(layout, host)
    if ip_version == 6:
        prefix = _SUBNET_PREFIX.format(subnet(layout, port)) if port else _PREFIX
        return f"{prefix}{number:x}"
    network = _SUBNET_NETWORK.format(subnet(layout, port)) if port else _NETWORK
    return f"{network}.{number >> 8}.{number & 0xFF}"


def _further_number(layout: Layout, port: Port) -> int | None:
    """Return the number of a further port of a host, behind those of all hosts; None of a first."""
    place = layout.further_ports.get(port.name)
    return None if place is None else 1 + len(layout.hosts) + place


def port_address(layout: Layout, port: Port, ip_version: int) -> str:
    """Return the address of a host's port; that of its first port is the host's.

    Hosts beside routers have one port.
    """
    number = _further_number(layout, port)
    if number is None:
        return address(layout, port.node, ip_version)
    if ip_version == 6:
        return f"{_PREFIX}{number:x}"
    return f"{_NETWORK}.{number >> 8}.{number & 0xFF}"


def mininet_address(layout: Layout, host: str) -> str:
    """Return the IPv4 address that Mininet gives to a host, with the length of its prefix."""
    return f"{address(layout, host, 4)}/{prefix_length(layout, 4)}"


def prefix_length(layout: Layout, ip_version: int) -> int:
    """Return the length in bits of the prefix of hosts' addresses."""
    if ip_version == 6:
        return _LENGTH
    return _SUBNET_IPV4_LENGTH if layout.routers else _IPV4_LENGTH


def sink_address(layout: Layout, ip_version: int) -> str:
    """Return the destination of background traffic, which the receiver gets."""
    if not layout.routers:
        return SINK_ADDRESS[ip_version]
    return _SUBNET_SINK[ip_version].format(len(layout.routers) + 1)


def gateway(layout: Layout, host: str) -> Port | None:
    """Return the router's port in a host's subnet; None in a network without routers."""
    seen, todo = {host}, [host]
    while layout.routers and todo:
        node = todo.pop()
        for link in layout.links:
            for here, there in ((link.one, link.other), (link.other, link.one)):
                if here.node != node or there.node in seen:
                    continue
                if there.node in layout.routers:
                    return there
                seen.add(there.node)
                todo.append(there.node)
    return None


def subnet(layout: Layout, port: Port) -> int:
    """Return the number of the subnet of a router's port; its first is nearer to the senders."""
    return layout.routers.index(port.node) + port.number


def router_address(layout: Layout, port: Port, ip_version: int) -> str:
    """Return the address of a router's port."""
    number = subnet(layout, port)
    if ip_version == 6:
        return f"{_SUBNET_PREFIX.format(number)}ff0{port.number}"
    return f"{_SUBNET_NETWORK.format(number)}.255.{port.number}"


def router_mac_address(layout: Layout, port: Port) -> str:
    """Return the MAC address of a router's port."""
    return f"02:00:00:01:{layout.routers.index(port.node):02x}:{port.number:02x}"


def senders_subnet(ip_version: int) -> str:
    """Return the subnet of the senders before a row of routers, as ip prints it."""
    return {4: f"{_SUBNET_NETWORK.format(1)}.0.0/{_SUBNET_IPV4_LENGTH}",
            6: f"{_SUBNET_PREFIX.format(1)}/{_LENGTH}"}[ip_version]  # fmt: skip


@dataclass(frozen=True)
class Neighbour:
    """A host or a router's port in a subnet: its IP and its MAC address."""

    ip_address: str
    mac: str


def neighbours(layout: Layout, host: str, ip_version: int) -> list[Neighbour]:
    """Return the neighbours of a host: the other hosts of its subnet, and its router."""
    port = gateway(layout, host)
    found = [
        Neighbour(address(layout, other, ip_version), mac_address(layout, other))
        for other in layout.hosts
        if other != host and gateway(layout, other) == port
    ]
    found += further_neighbours(layout, host, ip_version)
    return found + ([_router_neighbour(layout, port, ip_version)] if port else [])


def further_neighbours(layout: Layout, host: str, ip_version: int) -> list[Neighbour]:
    """Return the neighbours of a host that are further ports of others."""
    return [
        Neighbour(port_address(layout, further, ip_version), port_mac_address(layout, further))
        for other in layout.hosts
        if other != host
        for further in layout.host_ports(other)[1:]
    ]


def router_neighbours(layout: Layout, port: Port, ip_version: int) -> list[Neighbour]:
    """Return the neighbours of a router's port: the hosts of its subnet, or the next router."""
    number = subnet(layout, port)
    return [
        Neighbour(address(layout, host, ip_version), mac_address(layout, host))
        for host in layout.hosts
        if gateway(layout, host) == port
    ] + [
        _router_neighbour(layout, other, ip_version)
        for other in layout.ports
        if other.node in layout.routers and other != port and subnet(layout, other) == number
    ]


def _router_neighbour(layout: Layout, port: Port, ip_version: int) -> Neighbour:
    return Neighbour(router_address(layout, port, ip_version), router_mac_address(layout, port))


def mac_address(layout: Layout, host: str) -> str:
    """Return the MAC address of a host's port, a locally administered one (IEEE 802)."""
    return _mac(_number(layout, host))


def port_mac_address(layout: Layout, port: Port) -> str:
    """Return the MAC address of a host's port; that of its first port is the host's."""
    number = _further_number(layout, port)
    return mac_address(layout, port.node) if number is None else _mac(number)


def _mac(number: int) -> str:
    return f"02:00:00:00:{number >> 8:02x}:{number & 0xFF:02x}"


def prefix(layout: Layout, ip_version: int) -> str:
    """Return the prefix of all addresses of a network without routers, as ip prints it."""
    return f"{_PREFIX}/{_LENGTH}" if ip_version == 6 else f"{_NETWORK}.0.0/{_IPV4_LENGTH}"


def quiet_settings(port: str) -> dict[str, str]:
    """Return the sysctls of a port that carries IPv6; the last one enables it."""
    values = {
        "addr_gen_mode": "1",
        "accept_ra": "0",
        "accept_dad": "0",
        "router_solicitations": "0",
        "disable_ipv6": "0",
    }
    return {f"net.ipv6.conf.{port}.{name}": value for name, value in values.items()}


def neighbour_lines(port: str, found: Iterable[Neighbour]) -> list[str]:
    """Return lines for ``ip -batch`` that make neighbours of a port permanent."""
    return [
        f"neigh replace {one.ip_address} lladdr {one.mac} dev {port} nud permanent" for one in found
    ]


def ip_lines(port: str, ipv6_address: str, ipv4_address: str) -> list[str]:
    """Return lines for ``ip -batch`` that replace a port's IPv4 address by an IPv6 address."""
    return [
        f"address del {ipv4_address} dev {port}",
        f"link set dev {port} arp off",
        f"address add {ipv6_address}/{_LENGTH} dev {port} nodad",
    ]


def differences(node: str, ports: list[dict[str, Any]], wanted: list[str]) -> list[str]:
    """Describe how the IPv6 addresses of a host or router differ from the wanted ones.

    ``ports``: what ``ip -j address`` printed in its network namespace. One sentence each.
    """
    actual = [
        f"{info['local']}/{info['prefixlen']}{' tentative' if info.get('tentative') else ''}"
        for port in ports
        if port["ifname"] != "lo"
        for info in port["addr_info"]
    ]
    planned = [f"{one}/{_LENGTH}" for one in wanted]
    is_planned = sorted(actual) == sorted(planned)
    different = [] if is_planned else [f"addresses of {node} are {actual}"]
    resolving = [
        f"{port['ifname']} resolves neighbours"
        for port in ports
        if port["ifname"] != "lo" and "NOARP" not in port["flags"]
    ]
    return different + resolving
