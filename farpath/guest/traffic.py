"""Traffic: runs a schedule's flows, the pings, and the samples of the bottleneck."""

from __future__ import annotations

import json
import math
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path as FilePath
from typing import IO

from farpath.guest.bare_host import BareHost
from farpath.guest.containers import EndHost, EndHosts
from farpath.guest.device import LEAD_S, Device, DeviceError, Moments
from farpath.guest.flow_ends import FlowEnds, ends_of, make_files
from farpath.guest.network import Network, network_namespace
from farpath.guest.qdiscs import is_known_to_tc, unknown_to_tc
from farpath.guest.routers import host_names
from farpath.guest.system import NS_PER_S, wait_after_tick, wait_until
from farpath.guest.tc_process import TcProcess
from farpath.spec.hosts import Pair
from farpath.spec.plan import IDLE_PINGS, Plan
from farpath.spec.protocol import SCHEDULE_START_FILE
from farpath.spec.qdiscs import Qdisc
from farpath.spec.schedule import Flow
from farpath.tools import accepts, ping, rtnetlink, traceroute
from farpath.tools.commands import run

#: Where the guest writes the names of hosts and routers, and where its tools look for them.
NAMES_FILE, HOSTS_FILE = FilePath("/tmp/hosts"), "/etc/hosts"
#: Time between two pings of the idle path in s.
IDLE_PING_INTERVAL_S = 0.2
#: How long ping waits for an answer beyond two RTTs, in s.
LOST_S = 0.1
#: The label of the pings beside the traffic.
PINGS = "ping"


class TrafficError(DeviceError):
    """A program of the schedule failed, ended early or did not end; the text says which."""


class QueueSampler:
    """Samples the statistics of a bottleneck's qdisc, and of the one below it.

    ``host_pid``: a process in the namespace of the host whose port it is; None for a switch's.
    ``qdisc``: the port's.
    """

    def __init__(
        self, port: str, output: FilePath, host_pid: int | None = None, qdisc: Qdisc | None = None
    ) -> None:
        self.output = output.open("wb")
        with network_namespace(host_pid):
            self.unknown = list(unknown_to_tc(port, qdisc))
        self.tc = TcProcess(port, host_pid) if is_known_to_tc(qdisc) else None

    def sample(self, t_s: float) -> None:
        """Append one line: the time in the schedule in s, a space, qdiscs in JSON as of tc."""
        answer = self._ask_tc() if self.tc else b"[]"
        if self.unknown:
            qdiscs = [one.show() for one in self.unknown]
            qdiscs += rtnetlink.parse_others(answer.decode())
            answer = json.dumps(qdiscs).encode() + b"\n"
        self.output.write(f"{t_s:.6f} ".encode() + answer)

    def _ask_tc(self) -> bytes:
        assert self.tc
        answer = self.tc.show()
        if not answer:
            raise TrafficError(f"tc ended while sampling {self.tc.port}")
        return answer

    def close(self) -> None:
        """End tc and close the file of samples."""
        if self.tc:
            self.tc.close()
        self.output.close()


class Traffic:
    """Runs a schedule on a network and writes the output of the tools to ``raw``.

    ``devices``: what has a part in it besides flows.
    """

    def __init__(
        self,
        plan: Plan,
        network: Network,
        hosts: EndHosts,
        raw: FilePath,
        devices: Sequence[Device],
    ) -> None:
        self.plan = plan
        self.devices = devices
        self.network = network
        self.hosts = hosts
        self.raw = raw
        self.files: list[IO[bytes]] = []
        self.running: list[tuple[str, subprocess.Popen[bytes]]] = []
        self.titles: dict[str, str] = {}
        self.ends = {stack.label: ends_of(stack) for stack in plan.stacks}

    def _output(self, name: str) -> IO[bytes]:
        file = (self.raw / name).open("wb")
        self.files.append(file)
        return file

    def _start(
        self,
        host: EndHost | BareHost,
        label: str,
        arguments: list[str],
        environment: dict[str, str] | None = None,
        written: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        outputs = self._output(f"{label}.out"), self._output(f"{label}.err")
        process = host.start(arguments, *outputs, environment, written)
        self.running.append((label, process))
        self.titles[label] = f"{label} ({host.title})" if host.title else label
        return process

    def _target(self) -> str:
        return self.network.address(self.plan.schedule.flows[0].receiver)

    def await_idle_path(self) -> None:
        """Wait until buffers and delay lines are empty."""
        time.sleep(self.plan.drain_s)

    def ping_idle_path(self, count: int, label: str = "ping-idle") -> str:
        """Ping over the path without any traffic, and return the output of ping.

        ``label``: name of the raw file. Raises TrafficError if ping fails.
        """
        idle = self._idle_ping(self._target(), count)
        process = self._start(self.hosts[self.plan.pinger], label, idle)
        if process.wait() not in (0, ping.NO_ANSWER):
            raise TrafficError(self._explain(label, process.returncode))
        self.running.clear()
        return (self.raw / f"{label}.out").read_text()

    def _idle_ping(self, target: str, count: int) -> list[str]:
        """Return the command of idle pings.

        Of more than the usual ones all may be lost, and ping does not wait long then.
        """
        answer_s = 2 * self._longest_rtt_s() + LOST_S if count > IDLE_PINGS else None
        return ping.arguments(target, IDLE_PING_INTERVAL_S, count, answer_s)

    def _longest_rtt_s(self) -> float:
        """Return the longest base RTT of the idle pings in s."""
        pairs = self.plan.idle_pings.values()
        return max(self.plan.pair_rtt_ms(*pair) for pair in pairs) / 1e3

    def _ping_from_sender(self, name: str, pair: Pair, count: int) -> str:
        """Ping over the idle path with the lab's own ping: a user's image need not have one."""
        sender, receiver = pair
        target = self.network.address(receiver)
        with network_namespace(self.network.pid(sender)):
            output = run(*self._idle_ping(target, count), allowed=(0, ping.NO_ANSWER))
        (self.raw / f"ping-idle-{name}.out").write_text(output)
        return output

    def idle_pings(self, start_ns: int, count: int) -> Iterator[tuple[str, str]]:
        """Ping over the idle path in turns, and yield each turn's name and the output of ping.

        The pinger has the first turn. ``start_ns``: of the first turn, by the monotonic clock.
        """
        for turn, (name, pair) in enumerate(self.plan.idle_pings.items()):
            if self.network.has(pair[0]):
                wait_until(start_ns + round(turn * self._turn_s(count) * NS_PER_S))
                if turn == 0:
                    yield name, self.ping_idle_path(count)
                else:
                    yield name, self._ping_from_sender(name, pair, count)

    def _turn_s(self, count: int) -> float:
        """Return how long a turn of idle pings may take in s; ping waits two RTTs for the last."""
        return math.ceil(count * IDLE_PING_INTERVAL_S + 3 * self._longest_rtt_s() + 0.5)

    def epoch_ns(self, start_ns: int, count: int) -> int:
        """Return the start of the schedule, given that of the idle pings: the same at every site.

        Times are in ns of the monotonic clock.
        """
        idle_s = self._pinged_s(count) + self._traced_s()
        return start_ns + round((idle_s + LEAD_S) * NS_PER_S)

    def _pinged_s(self, count: int) -> float:
        """Return how long all turns of idle pings may take in s."""
        return len(self.plan.idle_pings) * self._turn_s(count)

    def _traced_s(self) -> float:
        """Return how long traceroute may take in s; without routers it does not run."""
        if not self.network.layout.routers:
            return 0.0
        return math.ceil(traceroute.PROBES * self._answer_s() + 1)

    def _answer_s(self) -> float:
        """Return how long traceroute waits for an answer in s."""
        return 1 + 2 * self.plan.path.rtt_ms / 1e3

    def trace_hops(self, start_ns: int, count: int) -> str | None:
        """Trace the hops to the receiver after the idle pings; return what traceroute printed.

        None if the pinger is at another site, or the network has no routers. ``start_ns``: of the
        idle pings, whose number is ``count``.
        """
        layout = self.network.layout
        if not layout.routers or not self.network.has(self.plan.pinger):
            return None
        NAMES_FILE.write_text(host_names(layout, self.plan.ip_version))
        run("mount", "--bind", str(NAMES_FILE), HOSTS_FILE)
        receiver = self.plan.schedule.flows[0].receiver
        arguments = traceroute.arguments(
            *(receiver, self.plan.ip_version, self._answer_s(), len(layout.routers) + 1)
        )
        wait_until(start_ns + round(self._pinged_s(count) * NS_PER_S))
        with network_namespace(self.network.pid(self.plan.pinger)):
            output = run(*arguments)
        (self.raw / "traceroute.out").write_text(output)
        return output

    def _ends(self, flow: Flow) -> FlowEnds:
        """Return the ends of a flow."""
        return self.ends[flow.stack]

    def _start_end(
        self,
        flow: Flow,
        host: str,
        label: str,
        command: list[str],
        environment: dict[str, str],
        written: Mapping[str, str] | None = None,
    ) -> None:
        """Start the program of one end of a flow."""
        clock = {"FARPATH_CLOCK": self.plan.settings.clock}
        bare = self._ends(flow).on_bare_host
        end = BareHost(self.network.pid(host)) if bare else self.hosts.for_flow(flow, host)
        self._start(end, label, command, clock | environment, written)

    def _start_receiver(self, flow: Flow) -> None:
        ends = self._ends(flow)
        command = ends.receiver(self.plan, flow)
        environment = ends.receiver_environment(self.plan, flow)
        self._start_end(flow, flow.receiver, f"{flow.name}-receiver", command, environment)

    def _check_receiver(self, flow: Flow) -> None:
        """Raise TrafficError if a flow's receiver does not listen yet."""
        if not self.hosts.for_flow(flow, flow.receiver).listens(flow.port):
            raise TrafficError(
                f"{self.titles[f'{flow.name}-receiver']} does not wait on TCP or UDP port "
                f"{flow.port}, {LEAD_S:g} s after its start"
            )

    def _start_sender(self, flow: Flow) -> None:
        ends, address = self._ends(flow), self.network.address(flow.receiver)
        command = ends.sender(self.plan, flow, address)
        environment = ends.sender_environment(self.plan, flow)
        written = make_files(self.raw, ends.written(self.plan, flow))
        self._start_end(flow, flow.sender, f"{flow.name}-sender", command, environment, written)

    def _flow_moments(self) -> Moments:
        """Return when receivers and senders of this site start, in s from the schedule's start."""
        moments: Moments = []
        for flow in self.plan.schedule.all_flows:
            if self.network.has(flow.receiver):
                begin_s = flow.start_s - LEAD_S
                moments.append((begin_s, partial(self._start_receiver, flow)))
                moments.append((flow.start_s, partial(self._check_receiver, flow)))
            if self.network.has(flow.sender):
                moments.append((flow.start_s, partial(self._start_sender, flow)))
        return moments

    def _explain(self, label: str, status: int | None) -> str:
        output = ""
        for ending in ("err", "out"):
            written = (self.raw / f"{label}.{ending}").read_text(errors="replace")
            output += accepts.without(written)[-500:]
        message = " ".join(output.split()) or "it said nothing"
        return f"{self.titles[label]} exited with {status}: {message}"

    def _check_running(self) -> None:
        if problem := next(filter(None, (device.problem() for device in self.devices)), ""):
            raise TrafficError(problem)
        for label, process in list(self.running):
            status = process.poll()
            if status is None:
                continue
            self.running.remove((label, process))
            if status and (label, status) != (PINGS, ping.NO_ANSWER):
                raise TrafficError(self._explain(label, status))

    def _agenda(self, sample: Callable[[int], None], epoch_ns: int) -> Moments:
        """Return what to do when, in order: devices, samples, flow starts.

        A sample at the time of a change comes after it.
        """
        schedule, step_s = self.plan.schedule, self.plan.settings.sample_interval_s
        moments = [moment for device in self.devices for moment in device.moments(epoch_ns)]
        if self.network.has(self.plan.pinger):
            moments.append((0.0, self._start_pings))
        moments += [
            (tick * step_s, partial(sample, tick))
            for tick in range(round(schedule.duration_s / step_s) + 1)
        ]
        return sorted([*moments, *self._flow_moments()], key=lambda moment: moment[0])

    def _samplers(self) -> list[QueueSampler]:
        """Return the samplers of this site's queues; a record has samples of the first."""
        first, *others = self.network.layout.queues
        files = {first: "queue.txt", **{port: f"queue-{port}.txt" for port in others}}
        qdiscs = {port.name: port.queue for port in self.network.layout.ports}
        return [
            QueueSampler(port, self.raw / file, self.network.host_pid(port), qdiscs[port])
            for port, file in files.items()
            if self.network.has_port(port)
        ]

    def _start_pings(self) -> None:
        interval_s = self.plan.settings.ping_interval_s
        count = round(self.plan.schedule.duration_s / interval_s)
        arguments = ping.arguments(self._target(), interval_s, count)
        self._start(self.hosts[self.plan.pinger], PINGS, arguments)

    def _write_start(self, epoch_ns: int) -> None:
        """Keep the schedule's start: sites differ in what their monotonic clocks count from."""
        for flow in self.plan.schedule.all_flows:
            if self.network.has(flow.receiver):
                file = self.raw / SCHEDULE_START_FILE.format(flow=flow.name)
                file.write_text(str(epoch_ns))

    def play(self, epoch_ns: int, progress: Callable[[float], None]) -> None:
        """Run the whole schedule; return when every flow of this site has ended.

        ``epoch_ns``: start of the schedule by the monotonic clock. ``progress``: called at every
        sample of flows with the time in the schedule in s. Raises DeviceError if a program fails or
        does not end in time.
        """
        samplers, settings = self._samplers(), self.plan.settings
        told = round(settings.flow_interval_s / settings.sample_interval_s)

        def sample(tick: int) -> None:
            at_s = tick * settings.sample_interval_s
            for sampler in samplers:
                sampler.sample(at_s)
            if tick % told == 0:
                for device in self.devices:
                    device.sample()
                progress(at_s)

        agenda = self._agenda(sample, epoch_ns)
        self._write_start(epoch_ns)
        wait_after_tick()
        for device in self.devices:
            device.begin(epoch_ns)
        for at_s, act in agenda:
            wait_until(epoch_ns + round(at_s * NS_PER_S))
            self._check_running()
            act()
        for device in self.devices:
            device.stop()
        self._await_end(epoch_ns / NS_PER_S + self.plan.schedule.duration_s + self.plan.grace_s)
        for device in reversed(self.devices):
            device.end()
        for sampler in samplers:
            sampler.close()
        for file in self.files:
            file.close()

    def _await_end(self, end_s: float) -> None:
        while self.running:
            if time.monotonic() > end_s:
                late = ", ".join(self.titles[label] for label, _ in self.running)
                raise TrafficError(
                    f"{late} did not end within {self.plan.grace_s:.0f} s of the schedule"
                )
            time.sleep(0.05)
            self._check_running()
