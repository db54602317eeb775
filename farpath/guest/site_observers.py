"""Site observers: what is noted of the links between sites and of hosts while services run."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from farpath.guest.network import Network, network_namespace
from farpath.guest.program_observers import (
    IDLE_INTERVAL_S,
    LOST_S,
    Connections,
)
from farpath.guest.traffic import QueueSampler
from farpath.spec.plan import Plan
from farpath.spec.services import Service
from farpath.tools import ping


class SiteObservers:
    """What notes the state of links and hosts: pings between sites, queues, connections."""

    def __init__(
        self, plan: Plan, network: Network, raw: FilePath, services: Sequence[Service]
    ) -> None:
        self.plan = plan
        self.network = network
        self.raw = raw
        qdiscs = {port.name: port.queue for port in network.layout.ports}
        self.queues = [
            QueueSampler(port, raw / f"queue-{port}.txt", qdisc=qdiscs[port])
            for port in network.layout.queues
        ]
        self.connections = [HostConnections(one.host, network) for one in services]
        self.pings: list[subprocess.Popen[bytes]] = []

    def _ping(self, name: str, label: str, interval_s: float, number: int) -> Any:
        host, target = self.plan.idle_pings[name]
        answer_s = 2 * self.plan.pair_rtt_ms(host, target) / 1e3 + LOST_S
        arguments = ping.arguments(self.network.address(target), interval_s, number, answer_s)
        with (
            network_namespace(self.network.pid(host)),
            (self.raw / f"{label}-{name}.out").open("wb") as output,
        ):
            return subprocess.Popen(arguments, stdout=output)

    def idle_pings(self) -> Mapping[str, str]:
        """Ping between all pairs over the idle network, in turn; return the outputs of ping."""
        for name in self.plan.idle_pings:
            self._ping(name, "ping-idle", IDLE_INTERVAL_S, self.plan.idle_ping_count).wait()
        return {
            name: (self.raw / f"ping-idle-{name}.out").read_text() for name in self.plan.idle_pings
        }

    def start(self, timeout_s: float) -> None:
        """Start to ping between all pairs, once per interval of the plan."""
        interval_s = self.plan.settings.ping_interval_s
        number = int(timeout_s / interval_s) + 2
        self.pings = [self._ping(name, "ping", interval_s, number) for name in self.plan.idle_pings]

    def sample(self, tick: int, t_s: float) -> None:
        """Note the state of queues and connections."""
        for queue in self.queues:
            queue.sample(t_s)
        for connections in self.connections:
            connections.sample(tick)

    def end(self) -> None:
        """End all pings and write all samples."""
        for process in self.pings:
            process.send_signal(signal.SIGINT)
            process.wait()
        for queue in self.queues:
            queue.close()
        for connections in self.connections:
            connections.write(self.raw)


class HostConnections(Connections):
    """The TCP connections of a service's host, of which each has the lower of its two ports.

    A client's own is one of those that the kernel chooses, and higher than a server's
    (net.ipv4.ip_local_port_range).
    """

    def port_of(self, local_port: int, remote_port: int) -> int:
        """Return the port by which a connection is told."""
        return min(local_port, remote_port)
