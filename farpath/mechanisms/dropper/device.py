"""Droppers: nftables rules that drop packets, and the kernel module that counts drops by flow."""

from __future__ import annotations

import os
from contextlib import nullcontext
from functools import partial
from itertools import chain
from pathlib import Path as FilePath
from typing import Any

from farpath.guest.device import Device, Moments, Site
from farpath.guest.network import Network, network_namespace
from farpath.spec.drop_counts import counted_ports
from farpath.spec.protocol import DROPS_MODULE
from farpath.tools import modules, nftables
from farpath.tools.commands import run, run_json
from farpath.tools.flow_drops import parse

WATCH_PARAMETER = FilePath("/sys/module", DROPS_MODULE, "parameters/watch")
COUNTS_FILE = FilePath("/proc", DROPS_MODULE)


def counted_at(site: Site) -> dict[str, list[str]]:
    """Return the ports of a site whose drops are counted, by what they do."""
    here = {port.name for port in site.layout.ports if site.has(port.node)}
    kinds = counted_ports(site.plan, site.layout)
    return {kind: [port for port in ports if port in here] for kind, ports in kinds.items()}


class FlowDrops(Device):
    """The kernel module that counts, by flow, what the qdiscs of a site's path drop."""

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether a site of a guest's own kernel has such ports."""
        return not site.platform.shared and any(counted_at(site).values())

    def load(self) -> None:
        """Load the module, which counts nothing before it is told the ports."""
        flow_ports = ",".join(str(flow.port) for flow in self.plan.schedule.all_flows)
        modules.insert_quietly(self.site.modules, DROPS_MODULE, {"ports": flow_ports})

    def attach(self, network: Network) -> None:
        """Count from now on what the ports drop."""
        for port in chain.from_iterable(counted_at(self.site).values()):
            pid = network.host_pid(port)
            with nullcontext() if pid is None else network_namespace(pid):
                _write(WATCH_PARAMETER, port)

    def counts(self) -> dict[str, Any]:
        """Return what each port has dropped since it is watched, as ``parse`` does, by kind."""
        flows = [flow.name for flow in self.plan.schedule.all_flows]
        counted = parse(COUNTS_FILE.read_text(encoding="ascii"), flows)
        kinds = counted_at(self.site).items()
        return {
            "flow_drops": {kind: {port: counted[port] for port in ports} for kind, ports in kinds}
        }


def _write(file: FilePath, text: str) -> None:
    """Write to a file that is there.

    It is not truncated: that would set its times, and reading the clock for that would move a
    run's packets.
    """
    with os.fdopen(os.open(file, os.O_WRONLY), "wb", buffering=0) as opened:
        opened.write(text.encode("ascii"))


class Droppers(Device):
    """The nftables rules of a plan's droppers, and their counters."""

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        here = {port.name for port in site.layout.ports if site.has(port.node)}
        #: The ports of this site at which each direction's droppers count.
        self.ports = {
            direction: [port for port in ports if port in here]
            for direction, ports in site.layout.dropping.items()
        }

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether the plan has droppers; each site says what it counted of them."""
        return bool(site.plan.droppers)

    def _run_nft(self, text: str) -> None:
        with self._at_switches():
            run("nft", "-f", "-", text=text)

    def _at_switches(self) -> Any:
        return network_namespace(self.network.mininet.switches[0].pid)

    def start(self, raw: FilePath) -> None:
        """Set the rules."""
        self._run_nft(nftables.script(self.plan, self.ports))

    def moments(self, epoch_ns: int) -> Moments:
        """Return when droppers by time drop the next packet, and when outages begin and end."""
        here = [
            (number, dropper)
            for number, dropper in enumerate(self.plan.droppers)
            if self.ports[dropper.direction]
        ]
        return [
            *(
                (at_s, partial(self._run_nft, nftables.drop_next(number)))
                for number, dropper in here
                if dropper.kind == "at"
                for at_s in dropper.numbers
            ),
            *(
                (at_s, partial(self._run_nft, command(number)))
                for number, dropper in here
                for span_s in dropper.spans_s
                for at_s, command in zip(
                    span_s, (nftables.drop_all, nftables.drop_none), strict=True
                )
            ),
        ]

    def counts(self) -> dict[str, Any]:
        """Return the packets that each dropper counted and dropped at this site."""
        with self._at_switches():
            output = run_json("nft", "-j", "list", "counters", "table", *nftables.TABLE.split())
        return {"droppers": nftables.parse_counters(output, self.plan)}


DEVICES = (FlowDrops, Droppers)
