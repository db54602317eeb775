"""Corruption: nftables rules that invert a byte of datagrams of UDP, and their counters.

The rules are at the ingress hook of the switch's port to which a host is linked. Linux sums no
packet there yet (CHECKSUM_PARTIAL, include/linux/skbuff.h): the checksum is either never made, or
made over the inverted byte, where Open vSwitch asks its daemon for the way of a first packet.
"""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from farpath.guest.device import Device, Site
from farpath.guest.network import network_namespace
from farpath.spec.corruption import BYTE, Chooser, corrupt_fraction, corrupting_ports
from farpath.tools import nftables
from farpath.tools.commands import run, run_json

TABLE = "netdev corruption"
#: Bits of a UDP header (RFC 768).
HEADER_BITS = 64
INVERTED = f"@th,{HEADER_BITS + 8 * BYTE},8"
#: Counters of each host.
COUNTERS = ("seen", "chosen", "damaged")


class Corruption(Device):
    """The rules of a plan's corruption at a site, and their counters."""

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        ports = corrupting_ports(site.layout)
        #: The ports of this site's hosts, each host with its number.
        self.ports = {host: each for host, each in ports.items() if site.has(host)}

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether the plan has corruption; each site says what it counted of it."""
        return corrupt_fraction(site.plan) > 0

    def _at_switches(self) -> Any:
        return network_namespace(self.network.mininet.switches[0].pid)

    def start(self, raw: FilePath) -> None:
        """Set the rules."""
        lines = [f"table {TABLE} {{"]
        for number, (host, ports) in enumerate(self.ports.items()):
            seen, chosen, damaged = (f"{name}_{number}" for name in COUNTERS)
            lines += [f"counter {name} {{}}" for name in (seen, chosen, damaged)]
            lines += [f"chain damage_{number} {{", f"counter name {chosen}"]
            lines += [f"{INVERTED} set {INVERTED} ^ 0xff counter name {damaged}", "}"]
            chooser = Chooser(self.plan, host)
            lines += [f"chain host_{number} {{", nftables.hook(ports)]
            lines.append(f"meta l4proto udp counter name {seen}")
            if match := nftables.match_of_numbers(chooser.chosen, chooser.cycle):
                lines.append(f"meta l4proto udp {match}goto damage_{number}")
            lines.append("}")
        with self._at_switches():
            run("nft", "-f", "-", text="\n".join([*lines, "}"]) + "\n")

    def counts(self) -> dict[str, Any]:
        """Return the datagrams that were counted, chosen and damaged of each host of this site."""
        with self._at_switches():
            output = run_json("nft", "-j", "list", "counters", "table", *TABLE.split())
        packets = nftables.packets_of(output)
        return {
            "corruption": {
                host: {name: packets[f"{name}_{number}"] for name in COUNTERS}
                for number, host in enumerate(self.ports)
            }
        }


DEVICES = (Corruption,)
