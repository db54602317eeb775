"""Topology: a layout as a Mininet Topo."""

from __future__ import annotations

import importlib
from typing import Any

from mininet.topo import Topo

from farpath.layout import Layout, Port
from farpath.plan import Plan
from farpath.spec.hosts import DUMBBELL, PARKING_LOT

#: Where each topology's class is, called TOPOLOGY: what a plan names is looked up here,
#: never imported as it is.
MODULES = {DUMBBELL: "topologies.dumbbell", PARKING_LOT: "topologies.parking_lot"}


class LaidOut(Topo):
    """A Topo whose hosts, switches and links are those of a layout."""

    layout: Layout

    @staticmethod
    def lay_out(plan: Plan) -> Layout:
        """What the topology is made of."""
        raise NotImplementedError

    def build(self, plan: Plan) -> None:
        """Wire it; queues wait at their ports until the network sets them."""
        self.layout = self.lay_out(plan)
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


def topology_of(plan: Plan) -> LaidOut:
    """The topology that a plan names."""
    topology: LaidOut = importlib.import_module(MODULES[plan.topology]).TOPOLOGY(plan)
    return topology
