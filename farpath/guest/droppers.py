"""A plan's droppers: their rules set, those of times added when they come, and counted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from farpath.guest.network import Network, network_namespace
from farpath.spec.plan import Plan
from farpath.tools import nftables
from farpath.tools.commands import run, run_json

Moments = list[tuple[float, Callable[[], None]]]


class Droppers:
    """The droppers of a network's path."""

    def __init__(self, plan: Plan, network: Network) -> None:
        self.plan = plan
        self.pid = network.mininet.switches[0].pid
        if plan.droppers:
            self._tell(nftables.script(plan, network.layout.dropping))

    def _tell(self, text: str) -> None:
        with network_namespace(self.pid):
            run("nft", "-f", "-", text=text)

    def moments(self) -> Moments:
        """When the next packet is to be lost, in s from the schedule's start."""
        return [
            (at_s, partial(self._tell, nftables.drop_next(number)))
            for number, dropper in enumerate(self.plan.droppers)
            if dropper.kind == "at"
            for at_s in dropper.numbers
        ]

    def counted(self) -> list[dict[str, str | int]]:
        """What each has seen and dropped."""
        if not self.plan.droppers:
            return []
        with network_namespace(self.pid):
            said = run_json("nft", "-j", "list", "counters", "table", *nftables.TABLE.split())
        return nftables.parse_counters(said, self.plan.droppers)
