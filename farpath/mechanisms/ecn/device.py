"""ECN readers: ask the kernel at each receiver which ECN its connections have, and their marks.

The last answer before a connection ends is written at the end of the run, one file for each host.
"""

from __future__ import annotations

import json
import socket
from dataclasses import asdict
from itertools import chain
from pathlib import Path as FilePath

from farpath.guest.device import Device, Site
from farpath.guest.network import Network, network_namespace
from farpath.guest.sock_diag import SockDiag
from farpath.spec.plan import Plan
from farpath.spec.protocol import ECN_FILE
from farpath.tools import tcp_ecn, tcp_info
from farpath.tools.tcp_ecn import ConnectionEcn


class EcnReader:
    """Asks for the connections of the flows that one host receives.

    iperf3 has a second connection for control on the same port, which carries less.
    """

    def __init__(self, host: str, plan: Plan, network: Network, raw: FilePath) -> None:
        self.file = raw / ECN_FILE.format(host=host)
        self.flows = {flow.port: flow.name for flow in plan.tcp_flows if flow.receiver == host}
        self.last: dict[str, tuple[int, ConnectionEcn]] = {}
        # A server that listens for both versions has connections of IPv4 among those of IPv6
        with network_namespace(network.pid(host)):
            self.kernels = [SockDiag(family) for family in (socket.AF_INET, socket.AF_INET6)]

    def sample(self) -> None:
        """Keep what the kernel says of each connection that has carried the most data so far."""
        for message in chain.from_iterable(kernel.established() for kernel in self.kernels):
            flow, info = self.flows.get(message.local_port), message.tcp_info
            if flow and info:
                received = tcp_info.bytes_received(info)
                if received >= self.last.get(flow, (0, None))[0]:
                    self.last[flow] = (received, tcp_ecn.parse(info))

    def write(self) -> None:
        """Write what was kept."""
        self.file.write_text(
            json.dumps({flow: asdict(connection) for flow, (_, connection) in self.last.items()})
        )


class EcnReaders(Device):
    """The readers of a site's receivers, in a plan with an active queue or ECN."""

    readers: list[EcnReader]

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether a site has a receiver that is asked."""
        return site.plan.reads_ecn and any(site.has(flow.receiver) for flow in site.plan.tcp_flows)

    def start(self, raw: FilePath) -> None:
        """Open the readers."""
        hosts = dict.fromkeys(flow.receiver for flow in self.plan.tcp_flows)
        self.readers = [
            EcnReader(host, self.plan, self.network, raw) for host in hosts if self.site.has(host)
        ]

    def sample(self) -> None:
        """Ask at each receiver."""
        for reader in self.readers:
            reader.sample()

    def end(self) -> None:
        """Write what was kept at each receiver."""
        for reader in self.readers:
            reader.write()


DEVICES = (EcnReaders,)
