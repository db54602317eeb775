"""Addresses of the lab's hosts, by the version of IP, and settings that keep IPv6 ports silent.

IPv6 is enabled only on the ports that carry it, since every port would announce itself on
the path. These ports generate no address, accept no router advertisements and detect no
duplicates. They resolve no neighbours either (NOARP), so that they neither join nor report a
solicited-node group (addrconf_join_solict in net/ipv6/addrconf.c); all neighbours are
permanent entries.
"""

from __future__ import annotations

from typing import Any

#: Destination of background traffic: an address that no host has. A permanent neighbour entry
#: sends it through the bottleneck to the receiver. Its kernel does not forward packets and
#: drops these without an answer (ip_route_input_slow and ip_error in net/ipv4/route.c,
#: ip6_forward in net/ipv6/ip6_output.c) and without reassembly.
SINK_ADDRESS = {4: "10.255.255.1", 6: "fd00::ffff"}
#: The lab's unique local prefix (RFC 4193) and its length in bits.
_PREFIX, _LENGTH = "fd00::", 64


def address(host: Any, number: int, ip_version: int) -> str:
    """Return the address of Mininet's ``number``-th host, from 1; for IPv4, the one Mininet gave.

    >>> address(None, 10, 6)
    'fd00::a'
    """
    return str(host.IP()) if ip_version == 4 else f"{_PREFIX}{number:x}"


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


def ip_lines(port: str, ipv6_address: str, ipv4_address: str) -> list[str]:
    """Return lines for ``ip -batch`` that replace a port's IPv4 address by an IPv6 address."""
    return [
        f"address del {ipv4_address} dev {port}",
        f"link set dev {port} arp off",
        f"address add {ipv6_address}/{_LENGTH} dev {port} nodad",
    ]


def differences(host: str, ports: list[dict[str, Any]], wanted: str) -> list[str]:
    """Describe how a host's addresses differ from the wanted one, one sentence each.

    ``ports``: what ``ip -j address`` printed in the host's network namespace.
    """
    actual = [
        f"{info['local']}/{info['prefixlen']}{' tentative' if info.get('tentative') else ''}"
        for port in ports
        if port["ifname"] != "lo"
        for info in port["addr_info"]
    ]
    different = [] if actual == [f"{wanted}/{_LENGTH}"] else [f"addresses of {host} are {actual}"]
    resolving = [
        f"{port['ifname']} resolves neighbours"
        for port in ports
        if port["ifname"] != "lo" and "NOARP" not in port["flags"]
    ]
    return different + resolving
