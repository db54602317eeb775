"""Drops by flow: the kernel module that counts what the qdiscs of a plan's path drop."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path as FilePath
from typing import Any

from farpath.guest.network import Network, network_namespace
from farpath.spec.plan import Plan
from farpath.spec.protocol import DROPS_MODULE
from farpath.tools import modules
from farpath.tools.flow_drops import parse

WATCH_PARAMETER = FilePath("/sys/module", DROPS_MODULE, "parameters/watch")
COUNTS_FILE = FilePath("/proc", DROPS_MODULE)


class FlowDrops:
    """The counts at this site: of the path's queues, and of the ports that lose at random.

    On a kernel that the lab shares with its machine no module is loaded, and nothing is counted.
    ``directory``: that of the site's modules.
    """

    def __init__(self, plan: Plan, network: Network, directory: FilePath) -> None:
        self.flows = [flow.name for flow in plan.schedule.all_flows]
        layout = network.layout
        #: The ports at this site, by what they do.
        self.ports = {
            kind: [port for port in ports if network.has_port(port)]
            for kind, ports in {"queues": layout.queues, "losses": layout.losing}.items()
        }
        self.counts = any(self.ports.values()) and not network.platform.shared
        if self.counts:
            ports = ",".join(str(flow.port) for flow in plan.schedule.all_flows)
            modules.insert(directory, DROPS_MODULE, {"ports": ports})
            for port in (*self.ports["queues"], *self.ports["losses"]):
                pid = network.host_pid(port)
                with nullcontext() if pid is None else network_namespace(pid):
                    WATCH_PARAMETER.write_text(port, encoding="ascii")

    def read_back(self) -> dict[str, Any]:
        """Return what each port has dropped so far (``parse``); empty if none is counted."""
        if not self.counts:
            return {}
        counted = parse(COUNTS_FILE.read_text(encoding="ascii"), self.flows)
        return {
            "flow_drops": {
                kind: {port: counted[port] for port in ports} for kind, ports in self.ports.items()
            }
        }
