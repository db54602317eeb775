"""Programs: runs a user's client and servers on the hosts of a lab, and notes what the path saw."""

from __future__ import annotations

import json
import math
import os
import select
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import IO

from farpath.guest import system
from farpath.guest.network import Network, network_namespace
from farpath.guest.platforms import Platform
from farpath.guest.program_hosts import ProgramHost, copy_collected, mount_shared
from farpath.guest.tracer import SockDiag
from farpath.guest.traffic import QueueSampler, TrafficError
from farpath.spec.hosts import PINGER
from farpath.spec.plan import Plan
from farpath.spec.programs import (
    CLIENT_HOST,
    SERVER_END_S,
    SERVER_HOST,
    SERVER_LEAD_S,
    TIMED_OUT,
    Programs,
    server_label,
)
from farpath.spec.protocol import (
    CONNECTIONS_FILE,
    OUTPUT_DIR,
    PLAN_FILE,
    PROGRAMS_FILE,
    RAW_DIR,
    READBACK_FILE,
    site_modules,
)
from farpath.tools import ping, sysctl, tcp_info
from topologies import lay_out

#: Pings of the idle path, the time between two in s, and how long they may take beyond that.
IDLE_PINGS, IDLE_INTERVAL_S, IDLE_GRACE_S = 5, 0.2, 1.0
#: Sysctls of hosts on which a user's programs run: as root or not, they may take any port.
ANY_PORT = {"net.ipv4.ip_unprivileged_port_start": "0"}
SendEvent = Callable[..., None]


def start_network(plan: Plan, share: FilePath, platform: Platform) -> Network:
    """Build the network of a lab of one guest, whose hosts use the plan's congestion control."""
    system.start_open_vswitch()
    platform.load_stacks(plan.stacks, share / site_modules(0))
    network = Network(plan, platform, lay_out(plan), 0)
    network.start()
    congestion = plan.stack_of(plan.schedule.flows[0]).congestion
    for host in network.hosts:
        with network_namespace(host.pid):
            sysctl.write_setting("net.ipv4.tcp_congestion_control", congestion)
            for name, value in ANY_PORT.items():
                sysctl.write_setting(name, value)
    return network


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
                of_server = self.host == SERVER_HOST
                port = message.local_port if of_server else message.remote_port
                self.rows.add(tick, port, message.state, message.cookie, message.tcp_info)

    def write(self, raw: FilePath) -> None:
        """Write all samples."""
        with (raw / CONNECTIONS_FILE.format(host=self.host)).open("wb") as file:
            file.writelines(self.rows.parts(ticks=self.ticks))


class Observers:
    """What notes the state of path and hosts while programs run: ping, queues, connections."""

    def __init__(self, plan: Plan, network: Network, raw: FilePath) -> None:
        self.plan = plan
        self.network = network
        self.raw = raw
        first, *others = network.layout.bottlenecks
        files = {first: "queue.txt", **{port: f"queue-{port}.txt" for port in others}}
        qdiscs = {port.name: port.queue for port in network.layout.ports}
        self.queues = [
            QueueSampler(port, raw / file, qdisc=qdiscs[port]) for port, file in files.items()
        ]
        self.connections = [Connections(host, network) for host in (CLIENT_HOST, SERVER_HOST)]
        self.pings: subprocess.Popen[bytes] | None = None

    def _ping(self, label: str, interval_s: float, count: int) -> subprocess.Popen[bytes]:
        arguments = ping.arguments(self.network.address(SERVER_HOST), interval_s, count)
        with (
            network_namespace(self.network.pid(PINGER)),
            (self.raw / f"{label}.out").open("wb") as output,
        ):
            return subprocess.Popen(arguments, stdout=output)

    def ping_idle_path(self) -> str:
        """Ping over the idle path and return the output of ping."""
        self._ping("ping-idle", IDLE_INTERVAL_S, IDLE_PINGS).wait()
        return (self.raw / "ping-idle.out").read_text()

    def start(self, timeout_s: float) -> None:
        """Start to ping, once per interval of the plan."""
        interval_s = self.plan.settings.ping_interval_s
        self.pings = self._ping("ping", interval_s, math.ceil(timeout_s / interval_s) + 1)

    def sample(self, tick: int, t_s: float) -> None:
        """Note the state of queues and connections."""
        for queue in self.queues:
            queue.sample(t_s)
        for connections in self.connections:
            connections.sample(tick)

    def end(self) -> None:
        """End ping and write all samples."""
        if self.pings:
            self.pings.send_signal(signal.SIGINT)
            self.pings.wait()
        for queue in self.queues:
            queue.close()
        for connections in self.connections:
            connections.write(self.raw)


class ProgramRun:
    """A client and its servers, and their output, which the host reads as it appears."""

    def __init__(
        self, programs: Programs, network: Network, platform: Platform, output: FilePath
    ) -> None:
        self.programs = programs
        self.output = output
        self.hosts = {
            name: ProgramHost(name, programs, network, platform) for name in programs.places
        }
        self.servers: dict[str, subprocess.Popen[bytes]] = {}

    @contextmanager
    def _files(self, label: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        with (
            (self.output / f"{label}.out").open("wb") as stdout,
            (self.output / f"{label}.err").open("wb") as stderr,
        ):
            yield stdout, stderr

    def start_servers(self) -> None:
        """Start all servers."""
        for number, command in enumerate(self.programs.servers):
            label = server_label(number)
            with self._files(label) as files:
                self.servers[label] = self.hosts[SERVER_HOST].start(label, command, *files)

    def check_servers(self) -> None:
        """Raise TrafficError with the message of a server that has ended before its client."""
        for label, process in self.servers.items():
            if process.poll() is not None:
                said = b"".join(
                    (self.output / f"{label}.{ending}").read_bytes() for ending in ("out", "err")
                ).decode(errors="replace")
                raise TrafficError(
                    f"the {label} ended with status {process.returncode} before the client began: "
                    f"{' '.join(said.split())[-500:] or 'it said nothing'} (a server has to stay "
                    "in the foreground, as with nginx -g 'daemon off;' or rsync --daemon "
                    "--no-detach)"
                )

    def run_client(self, epoch_ns: int, interval_s: float, sample: Callable[[int], None]) -> int:
        """Run the client from ``epoch_ns`` to its end or time limit; return its exit status.

        ``sample``: called at each interval with its number.
        """
        with self._files("client") as (stdout, stderr):
            process = self.hosts[CLIENT_HOST].start(
                *("client", self.programs.client, stdout),
                stdout if self.programs.joined else stderr,
            )
        ended = select.poll()
        ended.register(os.pidfd_open(process.pid), select.POLLIN)
        for tick in range(1, math.ceil(self.programs.timeout_s / interval_s) + 1):
            due_ns = epoch_ns + round(min(tick * interval_s, self.programs.timeout_s) * 1e9)
            while (wait_ns := due_ns - time.monotonic_ns()) > 0:
                if ended.poll(math.ceil(wait_ns / 1e6)):
                    return process.wait()
            sample(tick)
        if process.poll() is None:
            self.hosts[CLIENT_HOST].signal("client", "KILL")
            process.wait()
            return TIMED_OUT
        return process.returncode

    def end_servers(self) -> None:
        """Ask all servers to end, and end those that do not in time."""
        for name in ("TERM", "KILL"):
            end_s = time.monotonic() + SERVER_END_S
            for label, process in self.servers.items():
                if process.poll() is None:
                    self.hosts[SERVER_HOST].signal(label, name)
            while any(process.poll() is None for process in self.servers.values()):
                if time.monotonic() > end_s:
                    break
                time.sleep(0.05)


def play(share: FilePath, platform: Platform, send_event: SendEvent) -> None:
    """Run the programs in the shared directory, and leave there what the host asks for."""
    platform.prepare(share)
    plan = Plan.from_dict(json.loads((share / PLAN_FILE).read_text()))
    programs = Programs.from_dict(json.loads((share / PROGRAMS_FILE).read_text()))
    system.wait_until(system.next_second_ns())
    network = start_network(plan, share, platform)
    send_event("network-ready")
    before = network.read_back()
    if differences := network.differences(before):
        send_event("mismatch", differences=differences)
        return
    mount_shared(programs)
    run = ProgramRun(programs, network, platform, share / OUTPUT_DIR)
    send_event("hosts-ready")
    raw = FilePath("/tmp") / RAW_DIR
    raw.mkdir()
    observers = Observers(plan, network, raw)
    system.wait_until(system.next_second_ns())
    send_event("idle-pings", output=observers.ping_idle_path())
    epoch_ns = system.next_second_ns() + round(SERVER_LEAD_S * system.NS_PER_S)
    if programs.date_s is not None:
        time.clock_settime(time.CLOCK_REALTIME, programs.date_s - SERVER_LEAD_S)
    run.start_servers()
    system.wait_until(epoch_ns)
    run.check_servers()
    interval_s = plan.settings.sample_interval_s
    per_second = round(1 / interval_s)

    def sample(tick: int) -> None:
        observers.sample(tick, tick * interval_s)
        if tick % per_second == 0:
            send_event("progress", t_s=tick * interval_s)

    observers.start(programs.timeout_s)
    sample(0)
    status = run.run_client(epoch_ns, interval_s, sample)
    took_s = (time.monotonic_ns() - epoch_ns) / system.NS_PER_S
    observers.end()
    run.end_servers()
    after = network.read_back()
    (share / READBACK_FILE.format(site=0)).write_text(
        json.dumps({"before": before, "after": after})
    )
    shutil.copytree(raw, share / RAW_DIR, copy_function=shutil.copyfile)
    if programs.collect:
        copy_collected(share)
    send_event("done", status=status, took_s=round(took_s, 9))
