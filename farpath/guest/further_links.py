"""Further links: the ports of a host behind its first, each with an address and routes of its own.

A packet leaves by the port whose address it has (ip-rule(8)), so that the other end's answers take
the way back. What has no address yet takes the first port.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from farpath.guest import addresses
from farpath.spec.layout import Layout
from farpath.tools.commands import run_json

#: The routing table of a host's first port; each further port has the next one.
_TABLE = 100


def settings(layout: Layout, host: str) -> dict[str, str]:
    """Return the sysctls with which the further ports of a host carry IPv6."""
    found: dict[str, str] = {}
    for port in layout.host_ports(host)[1:]:
        found |= addresses.quiet_settings(port.name)
    return found


def hardware_lines(layout: Layout, host: str, ip_version: int) -> list[str]:
    """Return lines for ``ip -batch`` that give the further ports of a host their MAC addresses.

    With IPv6 alone they resolve no neighbours, as first ports (``farpath.guest.addresses``).
    """
    silent = " arp off" if ip_version == 6 else ""
    return [
        f"link set dev {port.name} address {addresses.port_mac_address(layout, port)}{silent}"
        for port in layout.host_ports(host)[1:]
    ]


def address_lines(layout: Layout, host: str, version: int) -> list[str]:
    """Return lines for ``ip -batch`` with addresses and neighbours of a host's further ports."""
    length = addresses.prefix_length(layout, version)
    neighbours = addresses.neighbours(layout, host, version)
    lines = []
    for port in layout.host_ports(host)[1:]:
        address = addresses.port_address(layout, port, version)
        unchecked = " nodad" if version == 6 else ""
        lines += [
            f"address add {address}/{length} dev {port.name} noprefixroute{unchecked}",
            *addresses.neighbour_lines(port.name, neighbours),
        ]
    return lines


def route_lines(layout: Layout, host: str, version: int, features: Sequence[str] = ()) -> list[str]:
    """Return lines for ``ip -batch``, of one family: a table of routes for each port of a host.

    ``features``: attributes of the routes. A host with one port needs none.
    """
    ports = layout.host_ports(host)
    lines = []
    for table, port in enumerate(ports if len(ports) > 1 else (), start=_TABLE):
        address = addresses.port_address(layout, port, version)
        route = " ".join(
            [
                *("route add", addresses.prefix(layout, version), "dev", port.name),
                *("src", address, "table", str(table), *features),
            ]
        )
        lines += [route, f"rule add from {address} lookup {table}"]
    return lines


def read_back(layout: Layout, host: str, version: int) -> dict[str, Any]:
    """Return rules and routes of a host with several links, in whose namespace this runs."""
    family = f"-{version}"
    tables = [str(_TABLE + number) for number in range(len(layout.host_ports(host)))]
    return {
        "rules": run_json("ip", family, "-j", "rule", "show"),
        "routes": {
            table: run_json("ip", family, "-j", "route", "show", "table", table) for table in tables
        },
    }


def differences(layout: Layout, host: str, version: int, found: Mapping[str, Any]) -> list[str]:
    """Describe how rules and routes of a host differ from those of its ports, one sentence each."""
    sentences = []
    ruled = {(rule.get("src"), str(rule.get("table"))) for rule in found["rules"]}
    for table, port in enumerate(layout.host_ports(host), start=_TABLE):
        address = addresses.port_address(layout, port, version)
        if (address, str(table)) not in ruled:
            sentences.append(f"packets from {address} of {host} have no rule")
        devices = [route["dev"] for route in found["routes"].get(str(table), [])]
        if devices != [port.name]:
            sentences.append(f"packets from {address} of {host} leave by {devices}")
    return sentences
