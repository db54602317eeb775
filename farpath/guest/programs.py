"""Programs: runs a user's client and servers on the hosts of a lab, and notes what the path saw."""

from __future__ import annotations

import json
import math
import os
import select
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path as FilePath
from typing import IO

from farpath.guest import system, user_time
from farpath.guest.device import Moments
from farpath.guest.network import Network
from farpath.guest.platforms import Platform
from farpath.guest.program_devices import ProgramDevices
from farpath.guest.program_groups import ProgramGroups
from farpath.guest.program_hosts import Program, ProgramHost, copy_collected, mount_shared
from farpath.guest.program_network import (
    add_default_routes,
    add_ipv6,
    copy_at_first_switch,
    start_network,
)
from farpath.guest.program_observers import PathObservers, SendEvent, last_words, status_of
from farpath.guest.timer import Timer
from farpath.guest.traffic import TrafficError
from farpath.spec.plan import Plan
from farpath.spec.programs import (
    CLIENT_HOST,
    INPUT_FILE,
    LISTEN_S,
    NO_INPUT,
    PIPE_INPUT,
    SERVER_END_S,
    SERVER_HOST,
    SERVER_LEAD_S,
    TIMED_OUT,
    Programs,
    server_label,
    server_remedy,
)
from farpath.spec.protocol import (
    OUTPUT_DIR,
    PLAN_FILE,
    PROGRAMS_FILE,
    RAW_DIR,
    READBACK_FILE,
    SHELL_FILE,
)
from farpath.spec.wire import from_wire

#: Time between two looks whether a server listens, in ns of virtual time.
LISTEN_LOOK_NS = 1_000_000
#: Parts of a read-back that differ from a run of flows' behind what is set here for programs.
SET_LATER = ("addresses", "routes", "settings")


class Ends:
    """The ends of programs while one waits for a time.

    ``alive``: the label of each program by what tells its end. ``is_exact``: whether waits end at
    their time and not up to a millisecond later.
    """

    def __init__(self, alive: dict[int, str], is_exact: bool) -> None:
        self._alive = alive
        self._timer = None
        if is_exact:
            self._timer = Timer()
        self._poll = select.poll()
        for descriptor in alive:
            self._poll.register(descriptor, select.POLLIN)

    def until(self, due_ns: int) -> Iterator[str]:
        """Yield the label of each program that ends until a time of the monotonic clock, in ns."""
        while (wait_ns := due_ns - time.monotonic_ns()) > 0:
            for descriptor in self._ended(due_ns, wait_ns):
                self._poll.unregister(descriptor)
                yield self._alive.pop(descriptor)

    def _ended(self, due_ns: int, wait_ns: int) -> list[int]:
        if self._timer is None:
            return [descriptor for descriptor, _ in self._poll.poll(math.ceil(wait_ns / 1e6))]
        self._timer.start(due_ns)
        found, _, _ = select.select([self._timer.descriptor, *self._alive], [], [])
        return [descriptor for descriptor in found if descriptor in self._alive]


class ProgramRun:
    """A client and its servers, and their output, which the host reads as it appears.

    ``ended``: called with the label, the status and the last words of each server that ends while
    the client runs, and the virtual s since the client's start.
    """

    def __init__(
        self,
        programs: Programs,
        network: Network,
        share: FilePath,
        ended: Callable[[str, int, str, float], None],
    ) -> None:
        self.programs = programs
        self.share = share
        self.output = share / OUTPUT_DIR
        self.ended = ended
        self.groups = ProgramGroups(programs.memory_bytes)
        self.hosts = {
            name: ProgramHost(name, programs, network, self.groups) for name in programs.places
        }
        self.servers: dict[str, Program] = {}

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
                host = self.hosts[SERVER_HOST]
                self.servers[label] = host.start(label, command, subprocess.DEVNULL, *files)

    def _said(self, label: str) -> str:
        return last_words(self.output, label)

    def check_servers(self) -> None:
        """Raise TrafficError with the message of a server that has ended before its client."""
        for label, server in self.servers.items():
            if server.status is not None:
                said = self._said(label)
                raise TrafficError(
                    f"the {label} ended with status {server.status} before the client began: "
                    f"{said} ({server_remedy(said, self.programs.user)})"
                )

    def wait_for_ports(self) -> None:
        """Wait until the servers' host listens on all ports that are waited for.

        Raises TrafficError if a server ends before, or if it takes too long.
        """
        host = self.hosts[SERVER_HOST]
        end_ns = time.monotonic_ns() + round(LISTEN_S * system.NS_PER_S)
        for port in self.programs.wait_for:
            while not host.listens(port):
                self.check_servers()
                now_ns = time.monotonic_ns()
                if now_ns > end_ns:
                    said = "; ".join(f"the {label}: {self._said(label)}" for label in self.servers)
                    raise TrafficError(
                        f"nothing listens on port {port} of host {SERVER_HOST} after {LISTEN_S:g} "
                        f"virtual s (--wait-for): {said or 'there is no --server'}"
                    )
                system.wait_until((now_ns // LISTEN_LOOK_NS + 1) * LISTEN_LOOK_NS)
        self.check_servers()

    def _input(self) -> IO[bytes]:
        """Open the client's stdin: nothing, a file, or a pipe that a process fills."""
        file = self.share / INPUT_FILE
        if self.programs.input == NO_INPUT:
            return open(os.devnull, "rb")
        if self.programs.input != PIPE_INPUT:
            return file.open("rb")
        filler = subprocess.Popen(["cat", str(file)], stdout=subprocess.PIPE)
        assert filler.stdout is not None
        return filler.stdout

    def run_client(
        self,
        epoch_ns: int,
        interval_s: float,
        sample: Callable[[int], None],
        moments: Moments | None = None,
    ) -> int:
        """Run the client from ``epoch_ns`` to its end or time limit; return its exit status.

        ``sample``: called at each interval with its number. ``moments``: what else to do when, in
        order; what is due at a sample comes before it. Unless they are None, samples are at their
        times and not up to a millisecond later. What the client leaves running is killed.
        """
        coming = deque(moments or ())
        while coming and coming[0][0] <= 0:
            coming.popleft()[1]()
        with self._files("client") as (stdout, stderr), self._input() as stdin:
            client = self.hosts[CLIENT_HOST].start(
                *("client", self.programs.client, stdin, stdout),
                stdout if self.programs.joined else stderr,
            )
        alive = {os.pidfd_open(client.process.pid): ""}
        alive |= {os.pidfd_open(one.process.pid): label for label, one in self.servers.items()}
        ends = Ends(alive, is_exact=moments is not None)
        status = self._watch(client, ends, epoch_ns, interval_s, sample, coming)
        client.kill()
        return status

    def _watch(
        self,
        client: Program,
        ends: Ends,
        epoch_ns: int,
        interval_s: float,
        sample: Callable[[int], None],
        coming: deque[tuple[float, Callable[[], None]]],
    ) -> int:
        """Follow the client to its end or time limit; return its status.

        ``ends``: of the client, whose label is empty, and of the servers. ``coming``: as
        ``moments`` of ``run_client``.
        """
        for tick in range(1, math.ceil(self.programs.timeout_s / interval_s) + 1):
            due_ns = epoch_ns + round(min(tick * interval_s, self.programs.timeout_s) * 1e9)
            due: list[tuple[int, Callable[[], None]]] = []
            while coming and (at_ns := epoch_ns + round(coming[0][0] * 1e9)) <= due_ns:
                due.append((at_ns, coming.popleft()[1]))
            due.append((due_ns, partial(sample, tick)))
            for at_ns, act in due:
                for label in ends.until(at_ns):
                    if not label:
                        client.process.wait()
                        return status_of(client)
                    self._tell_end(label, epoch_ns)
                act()
        ended = client.status
        return TIMED_OUT if ended is None else ended

    def _tell_end(self, label: str, epoch_ns: int) -> None:
        """Tell the host that a server has ended while the client runs."""
        server = self.servers[label]
        t_s = (time.monotonic_ns() - epoch_ns) / system.NS_PER_S
        server.process.wait()
        self.ended(label, status_of(server), self._said(label), round(t_s, 9))

    def end_servers(self) -> dict[str, int]:
        """Ask all servers to end, and kill those that do not in time; return their statuses."""
        for server in self.servers.values():
            server.ask_to_end()
        end_s = time.monotonic() + SERVER_END_S
        while any(not server.is_over for server in self.servers.values()):
            if time.monotonic() > end_s:
                break
            time.sleep(0.05)
        for server in self.servers.values():
            server.kill()
        return {label: status_of(server) for label, server in self.servers.items()}


def add_hosts(plan: Plan, programs: Programs, network: Network) -> None:
    """Give the hosts of a network what programs find there, beside their roots."""
    if programs.both_families or plan.ip_version == 6:
        add_ipv6(network)
    add_default_routes(network, programs.both_families)
    copy_at_first_switch(network)
    mount_shared(programs)


def play(share: FilePath, platform: Platform, send_event: SendEvent) -> None:
    """Run the programs in the shared directory, and leave there what the host asks for."""
    asked = json.loads((share / PROGRAMS_FILE).read_text())
    if "services" in asked:
        # Imported where it is used, as this module is
        from farpath.guest import services

        services.play(share, platform, send_event)
        return
    if (share / SHELL_FILE).exists():
        _play_shell(share, platform, send_event)
        return
    platform.prepare(share)
    plan = Plan.from_dict(json.loads((share / PLAN_FILE).read_text()))
    programs = from_wire(Programs, asked)
    devices = ProgramDevices(plan, platform, share)
    system.start_second()
    network = start_network(plan, share, platform)
    send_event("network-ready")
    devices.attach(network)
    before = network.read_back() | devices.read_back()
    if differences := network.differences(before) + devices.differences(before):
        send_event("mismatch", differences=differences)
        return
    add_hosts(plan, programs, network)

    def tell_end(label: str, status: int, said: str, t_s: float) -> None:
        send_event("server-ended", label=label, status=status, said=said, t_s=t_s)

    run = ProgramRun(programs, network, share, tell_end)
    send_event("hosts-ready")
    raw = FilePath("/tmp") / RAW_DIR
    raw.mkdir()
    observers = PathObservers(plan, network, raw)
    devices.start(raw)
    system.start_second()
    send_event("idle-pings", output=observers.ping_idle_path())
    epoch_ns = system.next_second_ns() + round(SERVER_LEAD_S * system.NS_PER_S)
    system.wait_until(epoch_ns - round(SERVER_LEAD_S * system.NS_PER_S))
    if programs.date_s is not None:
        time.clock_settime(time.CLOCK_REALTIME, programs.date_s - SERVER_LEAD_S)
    run.start_servers()
    moments = None if programs.wait_for else devices.begin(epoch_ns)
    system.wait_until(epoch_ns)
    run.check_servers()
    if programs.wait_for:
        run.wait_for_ports()
        epoch_ns = time.monotonic_ns()
        if devices:
            # In less than LEAD_S, and after what they start is ready
            epoch_ns = system.next_second_ns() + system.NS_PER_S
            moments = devices.begin(epoch_ns)
            system.wait_until(epoch_ns)
    networks = {user_time.network_number(network.pid(name)): name for name in programs.places}
    interval_s = plan.settings.sample_interval_s
    per_second = round(1 / interval_s)

    def sample(tick: int) -> None:
        observers.sample(tick, tick * interval_s)
        if tick % per_second == 0:
            devices.sample()
            lookers = user_time.read(networks)["lookers"]
            send_event("progress", t_s=tick * interval_s, lookers=lookers)

    observers.start(programs.timeout_s)
    sample(0)
    status = run.run_client(epoch_ns, interval_s, sample, moments)
    took_s = (time.monotonic_ns() - epoch_ns) / system.NS_PER_S
    found_time = user_time.read(networks)
    devices.end()
    observers.end()
    servers = run.end_servers()
    after = network.read_back() | devices.read_back() | devices.counts()
    of_lab = {name: before[name] for name in SET_LATER if name in before}
    differences = network.differences(after | of_lab) + devices.differences(after)
    if differences:
        send_event("mismatch", differences=differences)
        return
    (share / READBACK_FILE.format(site=0)).write_text(
        json.dumps({"before": before, "after": after})
    )
    shutil.copytree(raw, share / RAW_DIR, copy_function=shutil.copyfile)
    if programs.collect:
        copy_collected(share)
    send_event(
        "done",
        status=status,
        took_s=round(took_s, 9),
        servers=servers,
        killed_for_memory=run.groups.killed_for_memory(),
        user_time=found_time,
    )


def _play_shell(share: FilePath, platform: Platform, send_event: SendEvent) -> None:
    """Run lines of the user's in a shell on a host in place of a client; nothing is measured."""
    from farpath.guest.program_shell import run_lines

    platform.prepare(share)
    plan = Plan.from_dict(json.loads((share / PLAN_FILE).read_text()))
    programs = from_wire(Programs, json.loads((share / PROGRAMS_FILE).read_text()))
    system.start_second()
    network = start_network(plan, share, platform)
    if differences := network.differences(network.read_back()):
        send_event("mismatch", differences=differences)
        return
    add_hosts(plan, programs, network)

    def tell_end(_label: str, _status: int, _said: str, _t_s: float) -> None:
        """Say nothing: the user sees what a server prints."""

    run = ProgramRun(programs, network, share, tell_end)
    epoch_ns = system.next_second_ns()
    system.wait_until(epoch_ns)
    if programs.date_s is not None:
        time.clock_settime(time.CLOCK_REALTIME, programs.date_s - SERVER_LEAD_S)
    run.start_servers()
    system.wait_until(epoch_ns + round(SERVER_LEAD_S * system.NS_PER_S))
    run.check_servers()
    if programs.wait_for:
        run.wait_for_ports()
    status = run_lines(run.hosts[(share / SHELL_FILE).read_text()], share, send_event)
    run.end_servers()
    (share / RAW_DIR).mkdir()
    (share / READBACK_FILE.format(site=0)).write_text("{}")
    send_event("done", status=status)
