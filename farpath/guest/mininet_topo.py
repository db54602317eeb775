"""Topology: a layout as a Mininet Topo."""

from __future__ import annotations

from typing import Any

from mininet.topo import Topo

from farpath.spec.layout import Port
from farpath.spec.plan import Plan
from topologies import lay_out


class LayoutTopo(Topo):
    """A Topo whose hosts, switches and links are those of a plan's layout."""

    def build(self, plan: Plan) -> None:
        """Wire it; queues wait at their ports until the network sets them."""
        self.layout = lay_out(plan)
        for node in self.layout.nodes:
            add = self.addHost if node.is_host else self.addSwitch
            add(node.name)
        for link in self.layout.links:
            one, other = link.one, link.other
            self.addLink(
                *(one.node, other.node, one.number, other.number),
                **_parameters("params1", one),
                **_parameters("params2", other),
            )


def _parameters(name: str, port: Port) -> dict[str, Any]:
    return {name: {"queue": port.queue}} if port.queue else {}
