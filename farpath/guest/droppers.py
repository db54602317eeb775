"""Droppers: sets the nftables rules of a plan's droppers and reads their counters."""

from __future__ import annotations

from functools import partial
from typing import Any

from farpath.guest.background import Moments
from farpath.guest.network import Network, network_namespace
from farpath.spec.plan import Plan
from farpath.tools import nftables
from farpath.tools.commands import run, run_json


class Droppers:
    """The droppers of a network's path."""

    def __init__(self, plan: Plan, network: Network) -> None:
        self.plan = plan
        self.pid = network.mininet.switches[0].pid
        #: The ports of this site at which each direction's droppers count.
        self.ports = {
            direction: [port for port in ports if network.has_port(port)]
            for direction, ports in network.layout.dropping.items()
        }
        if plan.droppers:
            self._run_nft(nftables.script(plan, self.ports))

    def _run_nft(self, text: str) -> None:
        with network_namespace(self.pid):
            run("nft", "-f", "-", text=text)

    def moments(self) -> Moments:
        """Return when droppers by time drop the next packet, in s from the schedule's start."""
        return [
            (at_s, partial(self._run_nft, nftables.drop_next(number)))
            for number, dropper in enumerate(self.plan.droppers)
            if dropper.kind == "at" and self.ports[dropper.direction]
            for at_s in dropper.numbers
        ]

    def counts(self) -> list[dict[str, Any]]:
        """Return the packets that each dropper counted and dropped at this site."""
        if not self.plan.droppers:
            return []
        with network_namespace(self.pid):
            output = run_json("nft", "-j", "list", "counters", "table", *nftables.TABLE.split())
        return nftables.parse_counters(output, self.plan)
