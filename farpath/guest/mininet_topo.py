"""Mininet topology: a layout as a Mininet Topo."""

from __future__ import annotations

from typing import Any

from mininet.topo import Topo

from farpath.spec.layout import Port
from farpath.spec.plan import Plan
from topologies import lay_out


class LayoutTopo(Topo):
    """A Topo whose hosts, switches and links are those of a plan's layout."""

    def build(self, plan: Plan) -> None:
        """Add nodes and links; each port keeps its qdisc as a parameter until it is set."""
        self.layout = lay_out(plan)
        for node in self.layout.nodes:
            add = self.addHost if node.is_host else self.addSwitch
            add(node.name)
        for link in self.layout.links:
            first, second = link.one, link.other
            self.addLink(
                *(first.node, second.node, first.number, second.number),
                **_parameters("params1", first),
                **_parameters("params2", second),
            )


def _parameters(name: str, port: Port) -> dict[str, Any]:
    return {name: {"queue": port.queue}} if port.queue else {}
