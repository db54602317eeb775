"""Mininet topology: one site of a layout as a Mininet Topo."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mininet.topo import Topo

from farpath.guest import addresses
from farpath.spec.layout import Layout, Port


class SiteTopo(Topo):
    """A Topo with the hosts, switches and links of one site of a layout.

    Far links are not among them: Mininet makes both ends of a link, and a site has only one.
    """

    def build(self, layout: Layout, site: int, left_out: Collection[str] = ()) -> None:
        """Add nodes and links; each port keeps its qdisc as a parameter until it is set.

        ``left_out``: hosts that a kernel module stands for.
        """
        switches = [node.name for node in layout.nodes if not node.is_host and not node.hop]
        for node in layout.nodes:
            if node.site != site or node.name in left_out:
                continue
            if node.hop:
                self.addHost(node.name, ip=None)
            elif node.is_host:
                self.addHost(node.name, ip=addresses.mininet_address(layout, node.name))
            else:
                # As Mininet would derive it from a name such as s1
                self.addSwitch(node.name, dpid=f"{switches.index(node.name) + 1:x}")
        for link in layout.links:
            first, second = link.one, link.other
            if link.far_delays_s or first.node in left_out or layout.site_of(first.node) != site:
                continue
            self.addLink(
                *(first.node, second.node, first.number, second.number),
                **_parameters("params1", first),
                **_parameters("params2", second),
            )


def _parameters(name: str, port: Port) -> dict[str, Any]:
    return {name: {"queue": port.queue}} if port.queue else {}
