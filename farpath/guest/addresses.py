"""Addresses of the lab's hosts, by the version of IP, and settings that keep IPv6 ports silent.

IPv6 is enabled only on the ports that carry it, since every port would announce itself on
the path. These ports generate no address, accept no router advertisements and detect no
duplicates. They resolve no neighbours either (NOARP), so that they neither join nor report a
solicited-node group (addrconf_join_solict in net/ipv6/addrconf.c); all neighbours are
permanent entries.
"""

from __future__ import annotations

from typing import Any

from farpath.spec.layout import Layout

#: Destination of background traffic: an address that no host has. A permanent neighbour entry
#: sends it through the bottleneck to the receiver. Its kernel does not forward packets and
#: drops these without an answer (ip_route_input_slow and ip_error in net/ipv4/route.c,
#: ip6_forward in net/ipv6/ip6_output.c) and without reassembly.
SINK_ADDRESS = {4: "10.255.255.1", 6: "fd00::ffff"}
#: The lab's unique local prefix (RFC 4193) and its length in bits.
_PREFIX, _LENGTH = "fd00::", 64
#: The lab's IPv4 network, with room for 65,534 hosts, and the length of its prefix in bits.
_NETWORK, _IPV4_LENGTH = "10.0", 8


def _number(layout: Layout, host: str) -> int:
    """Return the number of a host in its layout, from 1: the same at every site."""
    return 1 + layout.hosts.index(host)


def address(layout: Layout, host: str, ip_version: int) -> str:
    """Return the address of a host, at whichever site it is."""
    number = _number(layout, host)
    if ip_version == 6:
        return f"{_PREFIX}{number:x}"
    return f"{_NETWORK}.{number >> 8}.{number & 0xFF}"


def mininet_address(layout: Layout, host: str) -> str:
    """Return the IPv4 address that Mininet gives to a host, with the length of its prefix."""
    return f"{address(layout, host, 4)}/{_IPV4_LENGTH}"


def mac_address(layout: Layout, host: str) -> str:
    """Return the MAC address of a host's port, a locally administered one (IEEE 802)."""
    number = _number(layout, host)
    return f"02:00:00:00:{number >> 8:02x}:{number & 0xFF:02x}"


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
