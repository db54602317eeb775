"""Drops by flow: the kernel module that counts what the qdiscs of a plan's path drop."""

from __future__ import annotations

import os
from contextlib import nullcontext
from itertools import chain
from pathlib import Path as FilePath
from typing import Any

from farpath.guest.network import Network, network_namespace
from farpath.spec.drop_counts import counted_ports
from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.protocol import DROPS_MODULE
from farpath.tools import modules
from farpath.tools.flow_drops import parse

WATCH_PARAMETER = FilePath("/sys/module", DROPS_MODULE, "parameters/watch")
COUNTS_FILE = FilePath("/proc", DROPS_MODULE)


def ports_at(plan: Plan, layout: Layout, site: int) -> dict[str, list[str]]:
    """Return the ports of a site whose drops are counted, by what they do."""
    here = {port.name for port in layout.ports if layout.site_of(port.node) == site}
    kinds = counted_ports(plan, layout)
    return {kind: [port for port in ports if port in here] for kind, ports in kinds.items()}


def are_counted_at(plan: Plan, layout: Layout, site: int) -> bool:
    """Whether a site has such ports."""
    return any(ports_at(plan, layout, site).values())


def load(plan: Plan, directory: FilePath) -> None:
    """Load the kernel module, which counts nothing before it is told the ports.

    ``directory``: that of the site's modules. A run's packets are the same with and without it: no
    program starts, and it is there before the whole second on which the network's timers begin.
    """
    flow_ports = ",".join(str(flow.port) for flow in plan.schedule.all_flows)
    modules.insert_quietly(directory, DROPS_MODULE, {"ports": flow_ports})


def watch(plan: Plan, network: Network) -> None:
    """Count from now on what the ports of a network's site drop."""
    for port in chain.from_iterable(ports_at(plan, network.layout, network.site).values()):
        pid = network.host_pid(port)
        with nullcontext() if pid is None else network_namespace(pid):
            _write(WATCH_PARAMETER, port)


def _write(file: FilePath, text: str) -> None:
    """Write to a file that is there.

    It is not truncated: that would set its times, and reading the clock for that would move a
    run's packets.
    """
    with os.fdopen(os.open(file, os.O_WRONLY), "wb", buffering=0) as opened:
        opened.write(text.encode("ascii"))


def read_back(plan: Plan, network: Network) -> dict[str, Any]:
    """Return what each port has dropped since it is watched, as ``parse`` does, by kind."""
    flows = [flow.name for flow in plan.schedule.all_flows]
    counted = parse(COUNTS_FILE.read_text(encoding="ascii"), flows)
    return {
        kind: {port: counted[port] for port in ports}
        for kind, ports in ports_at(plan, network.layout, network.site).items()
    }
