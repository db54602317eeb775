"""Program observers: what is noted of path, hosts and output while a user's programs run."""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath

from farpath.guest.network import Network, network_namespace
from farpath.guest.program_hosts import Program
from farpath.guest.sock_diag import SockDiag
from farpath.guest.traffic import QueueSampler
from farpath.spec.hosts import PINGER, Pair
from farpath.spec.plan import Plan
from farpath.spec.programs import CLIENT_HOST, SERVER_HOST
from farpath.spec.protocol import CONNECTIONS_FILE
from farpath.spec.site_clock import IDLE_INTERVAL_S, LOST_S
from farpath.tools import ping, tcp_info

#: How much of a program's output is looked at for its last words, in bytes.
LAST_BYTES = 4096
SendEvent = Callable[..., None]


class Connections:
    """Samples the state of all TCP connections of a host."""

    def __init__(self, host: str, network: Network) -> None:
        self.host = host
        self.rows = tcp_info.Rows()
        self.ticks = 0
        with network_namespace(network.pid(host)):
            self.kernels = [SockDiag(family) for family in (socket.AF_INET, socket.AF_INET6)]

    def sample(self, tick: int) -> None:
        """Note the state of each established connection at a tick."""
        self.ticks = tick + 1
        for kernel in self.kernels:
            for message in kernel.established():
                port = self.port_of(message.local_port, message.remote_port)
                self.rows.add(tick, port, message.state, message.cookie, message.tcp_info)

    def port_of(self, local_port: int, remote_port: int) -> int:
        """Return the port by which a connection is told: the servers' host's."""
        return local_port if self.host == SERVER_HOST else remote_port

    def write(self, raw: FilePath) -> None:
        """Write all samples."""
        with (raw / CONNECTIONS_FILE.format(host=self.host)).open("wb") as file:
            file.writelines(self.rows.parts(ticks=self.ticks))


def _end_of(file: FilePath) -> bytes:
    """Return the end of a file, however long it is."""
    with file.open("rb") as stream:
        stream.seek(-min(LAST_BYTES, os.fstat(stream.fileno()).st_size), os.SEEK_END)
        return stream.read()


def last_words(output: FilePath, label: str) -> str:
    """Return the last words of a program, on one line; ``output``: directory of its output."""
    said = b"".join(_end_of(output / f"{label}.{ending}") for ending in ("out", "err"))
    return " ".join(said.decode(errors="replace").split())[-500:] or "it said nothing"


class Observers:
    """Notes the state of path and hosts while programs run: pings, queues, connections.

    ``queues``: the raw file of each port whose queue is sampled. ``connections``: of each host.
    """

    def __init__(
        self,
        plan: Plan,
        network: Network,
        raw: FilePath,
        queues: Mapping[str, str],
        connections: Sequence[Connections],
    ) -> None:
        self.plan = plan
        self.network = network
        self.raw = raw
        qdiscs = {port.name: port.queue for port in network.layout.ports}
        self.queues = [
            QueueSampler(port, raw / file, qdisc=qdiscs[port]) for port, file in queues.items()
        ]
        self.connections = connections
        self.pings: list[subprocess.Popen[bytes]] = []

    def ping(
        self, pair: Pair, rtt_ms: float, label: str, interval_s: float, count: int
    ) -> subprocess.Popen[bytes]:
        """Start to ping from a host to another; ``label``: of the raw file with the output."""
        host, target = pair
        answer_s = 2 * rtt_ms / 1e3 + LOST_S
        arguments = ping.arguments(self.network.address(target), interval_s, count, answer_s)
        with (
            network_namespace(self.network.pid(host)),
            (self.raw / f"{label}.out").open("wb") as output,
        ):
            return subprocess.Popen(arguments, stdout=output)

    def ping_idle(self, pair: Pair, rtt_ms: float, label: str) -> str:
        """Ping over the idle path and return the output of ping."""
        self.ping(pair, rtt_ms, label, IDLE_INTERVAL_S, self.plan.idle_ping_count).wait()
        return (self.raw / f"{label}.out").read_text()

    def keep_pinging(self, pair: Pair, rtt_ms: float, label: str, timeout_s: float) -> None:
        """Start to ping, once per interval of the plan, until the end."""
        interval_s = self.plan.settings.ping_interval_s
        count = math.ceil(timeout_s / interval_s) + 1
        self.pings.append(self.ping(pair, rtt_ms, label, interval_s, count))

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


class PathObservers(Observers):
    """The observers of a path with programs at its two ends."""

    PAIR = (PINGER, SERVER_HOST)

    def __init__(self, plan: Plan, network: Network, raw: FilePath) -> None:
        first, *others = network.layout.bottlenecks
        files = {first: "queue.txt", **{port: f"queue-{port}.txt" for port in others}}
        hosts = (CLIENT_HOST, SERVER_HOST)
        super().__init__(plan, network, raw, files, [Connections(host, network) for host in hosts])

    def ping_idle_path(self) -> str:
        """Ping over the idle path and return the output of ping."""
        return self.ping_idle(self.PAIR, self.plan.path.rtt_ms, "ping-idle")

    def start(self, timeout_s: float) -> None:
        """Start to ping the servers' host."""
        self.keep_pinging(self.PAIR, self.plan.path.rtt_ms, "ping", timeout_s)


def status_of(program: Program) -> int:
    """Return the status of a program that has ended."""
    status = program.status
    assert status is not None
    return status
