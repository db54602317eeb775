"""Addresses: those of hosts in the lab, by the version of IP, and what keeps ports silent.

IPv6 is off in the lab's kernel but for the ports that carry it, since every port would
announce itself on the path. These ports make no address of their own, hear no router and
look for no duplicates; and they resolve nothing (NOARP), so that they join no solicited-node
group and report none (addrconf_join_solict in net/ipv6/addrconf.c): all neighbours are
permanent.
"""

from __future__ import annotations

from typing import Any

#: Where background traffic is sent: an address that no host has. A permanent neighbour
#: leads it through the bottleneck to the receiver, whose kernel, no router, drops it
#: without a word (ip_route_input_slow and ip_error in net/ipv4/route.c, ip6_forward in
#: net/ipv6/ip6_output.c), and unassembled.
NOWHERE = {4: "10.255.255.1", 6: "fd00::ffff"}
#: A unique local prefix (RFC 4193) and, as long as Mininet's, room for any lab.
_PREFIX, _LENGTH = "fd00::", 64


def address(host: Any, number: int, ip_version: int) -> str:
    """The address of Mininet's ``number``-th host, from 1; of IPv4 Mininet's own.

    >>> address(None, 10, 6)
    'fd00::a'
    """
    return str(host.IP()) if ip_version == 4 else f"{_PREFIX}{number:x}"


def quiet_settings(port: str) -> dict[str, str]:
    """What a port that carries IPv6 is set to; the last lets it."""
    values = {
        "addr_gen_mode": "1",
        "accept_ra": "0",
        "accept_dad": "0",
        "router_solicitations": "0",
        "disable_ipv6": "0",
    }
    return {f"net.ipv6.conf.{port}.{name}": value for name, value in values.items()}


def lines_of_ipv6(port: str, own: str, old: str) -> list[str]:
    """What ``ip -batch`` is told for a host's port: IPv6 in the place of IPv4."""
    return [
        f"address del {old} dev {port}",
        f"link set dev {port} arp off",
        f"address add {own}/{_LENGTH} dev {port} nodad",
    ]


def differences(host: str, found: list[dict[str, Any]], wanted: str) -> list[str]:
    """How the addresses of a host's ports, as ``ip -j address`` says, are not the one wanted."""
    has = [
        f"{one['local']}/{one['prefixlen']}{' tentative' if one.get('tentative') else ''}"
        for port in found
        if port["ifname"] != "lo"
        for one in port["addr_info"]
    ]
    different = [] if has == [f"{wanted}/{_LENGTH}"] else [f"addresses of {host} are {has}"]
    talkative = [
        f"{port['ifname']} resolves neighbours"
        for port in found
        if port["ifname"] != "lo" and "NOARP" not in port["flags"]
    ]
    return different + talkative
