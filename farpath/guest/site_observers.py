"""Site observers: notes the state of links between sites and of hosts while services run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

from farpath.guest.network import Network
from farpath.guest.program_observers import Connections, Observers
from farpath.guest.system import wait_until
from farpath.spec.plan import Plan
from farpath.spec.services import Service


class SiteObservers(Observers):
    """The observers of a network of sites: pings between all sites, all queues.

    Of several guests each has those of its own sites.
    """

    def __init__(
        self, plan: Plan, network: Network, raw: FilePath, services: Sequence[Service]
    ) -> None:
        files = {port: f"queue-{port}.txt" for port in network.layout.queues}
        own = {port: file for port, file in files.items() if network.has_port(port)}
        connections = [HostConnections(one.host, network) for one in services]
        super().__init__(plan, network, raw, own, connections)
        self.pairs = {name: pair for name, pair in plan.idle_pings.items() if network.has(pair[0])}
        self.rtts_ms = {name: plan.pair_rtt_ms(*pair) for name, pair in self.pairs.items()}

    def idle_pings(self, turns_ns: Mapping[str, int]) -> Mapping[str, str]:
        """Ping between all pairs over the idle network, in turn; return the outputs of ping.

        ``turns_ns``: when the turn of a pair begins, by the monotonic clock; without it a turn
        begins with the end of the one before.
        """
        outputs = {}
        for name, pair in self.pairs.items():
            if name in turns_ns:
                wait_until(turns_ns[name])
            outputs[name] = self.ping_idle(pair, self.rtts_ms[name], f"ping-idle-{name}")
        return outputs

    def start(self, timeout_s: float) -> None:
        """Start to ping between all pairs."""
        for name, pair in self.pairs.items():
            self.keep_pinging(pair, self.rtts_ms[name], f"ping-{name}", timeout_s)


class HostConnections(Connections):
    """The TCP connections of a service's host, of which each has the lower of its two ports.

    A client's own is one of those that the kernel chooses, and higher than a server's
    (net.ipv4.ip_local_port_range).
    """

    def port_of(self, local_port: int, remote_port: int) -> int:
        """Return the port by which a connection is told."""
        return min(local_port, remote_port)
