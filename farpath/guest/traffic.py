"""Traffic: runs a schedule's flows, the pings, and the samples of the bottleneck."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path as FilePath
from typing import IO

from farpath.guest.background import BackgroundTraffic, Moments
from farpath.guest.containers import PRELOAD, SINK_LIBRARY, EndHost, EndHosts
from farpath.guest.network import Network, network_namespace
from farpath.guest.system import wait_after_tick, wait_for_whole_second
from farpath.guest.tracers import Tracers
from farpath.spec.hosts import PINGER
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow
from farpath.spec.stack import IMAGE, IPERF3
from farpath.tools import iperf3, iperf3_like, ping
from farpath.tools.commands import run

#: Longest time in virtual s until a flow's receiver listens on its port; CPU takes none.
LISTEN_LIMIT_S = 10.0
#: Time between two pings of the idle path in s.
IDLE_PING_INTERVAL_S = 0.2


class TrafficError(RuntimeError):
    """A program of the schedule failed, ended early or did not end; the text says which."""


class QueueSampler:
    """Samples the statistics of a bottleneck's qdisc with one ``tc`` process that stays open."""

    def __init__(self, port: str, output: FilePath) -> None:
        self.port = port
        self.output = output.open("wb")
        self.tc = subprocess.Popen(
            ["stdbuf", "-oL", "tc", "-s", "-j", "-batch", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def sample(self, t_s: float) -> None:
        """Append one line: the time in the schedule in s, a space, the output of tc."""
        assert self.tc.stdin is not None
        assert self.tc.stdout is not None
        self.tc.stdin.write(f"qdisc show dev {self.port}\n".encode())
        self.tc.stdin.flush()
        answer = self.tc.stdout.readline()
        if not answer:
            raise TrafficError(f"tc ended while sampling {self.port}")
        self.output.write(f"{t_s:.6f} ".encode() + answer)

    def close(self) -> None:
        """End tc and close the file of samples."""
        assert self.tc.stdin is not None
        self.tc.stdin.close()
        self.tc.wait()
        self.output.close()


class Traffic:
    """Runs a schedule on a network and writes the output of the tools to ``raw``.

    ``moments``: further functions to call, each with its time in s from the schedule's start.
    """

    def __init__(
        self, plan: Plan, network: Network, hosts: EndHosts, raw: FilePath, moments: Moments
    ) -> None:
        self.plan = plan
        self.moments = moments
        self.network = network
        self.hosts = hosts
        self.raw = raw
        self.files: list[IO[bytes]] = []
        self.running: list[tuple[str, subprocess.Popen[bytes]]] = []
        self.titles: dict[str, str] = {}
        self.background = BackgroundTraffic(plan, network, raw)
        self.tracers = Tracers(plan, raw)

    def _output(self, name: str) -> IO[bytes]:
        file = (self.raw / name).open("wb")
        self.files.append(file)
        return file

    def _start(
        self,
        host: EndHost,
        label: str,
        arguments: list[str],
        environment: dict[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        process = host.start(
            arguments, self._output(f"{label}.out"), self._output(f"{label}.err"), environment
        )
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
        idle = ping.arguments(self._target(), IDLE_PING_INTERVAL_S, count)
        process = self._start(self.hosts[PINGER], label, idle)
        if process.wait():
            raise TrafficError(self._explain(label, process.returncode))
        self.running.clear()
        return (self.raw / f"{label}.out").read_text()

    def ping_from_senders(self, count: int) -> Iterator[tuple[str, str]]:
        """Ping from each sender to its receiver, and yield the sender and the output of ping.

        There are no pings if the plan has only one sender. ping is the lab's own, since a user's
        image need not have one.
        """
        receivers = {flow.sender: flow.receiver for flow in self.plan.schedule.flows}
        for sender, receiver in receivers.items() if len(receivers) > 1 else ():
            target = self.network.address(receiver)
            with network_namespace(self.network.pid(sender)):
                output = run(*ping.arguments(target, IDLE_PING_INTERVAL_S, count))
            (self.raw / f"ping-idle-{sender}.out").write_text(output)
            yield sender, output

    def _receiver_environment(self, flow: Flow) -> dict[str, str]:
        """Return the environment variables of a flow's receiving program."""
        settings = self.plan.settings
        if not settings.receiver_discards or self.plan.stack_of(flow).program != IPERF3:
            return {}
        return {PRELOAD: SINK_LIBRARY, "SINK_WAKE_BYTES": str(settings.wake_bytes)}

    def _commands(self, flow: Flow) -> tuple[list[str], list[str]]:
        """Return the commands of a flow's receiver and sender."""
        stack = self.plan.stack_of(flow)
        interval_s = self.plan.settings.sample_interval_s
        address = self.network.address(flow.receiver)
        if stack.program == IPERF3:
            return (
                iperf3.server_arguments(flow, interval_s),
                iperf3.client_arguments(
                    flow, address, interval_s, stack.congestion, self.plan.settings.cpu_is_free
                ),
            )
        program = list(stack.command) if stack.program == IMAGE else [stack.program]
        return (
            iperf3_like.server_arguments(program, flow, interval_s, stack.parameters),
            iperf3_like.client_arguments(program, flow, address, interval_s, stack.parameters),
        )

    def _start_flow(self, flow: Flow) -> None:
        server, client = self._commands(flow)
        clock = {"FARPATH_CLOCK": self.plan.settings.clock}
        receiver = self.hosts.for_flow(flow, flow.receiver)
        label = f"{flow.name}-receiver"
        self._start(receiver, label, server, clock | self._receiver_environment(flow))
        limit_s, pause_s = time.monotonic() + LISTEN_LIMIT_S, 0.001
        while not receiver.listens(flow.port):
            self._check_running()
            if time.monotonic() > limit_s:
                raise TrafficError(
                    f"{self.titles[label]} does not wait on TCP or UDP port {flow.port}, "
                    f"{LISTEN_LIMIT_S:g} s after its start"
                )
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 0.1)
        sender = self.hosts.for_flow(flow, flow.sender)
        self._start(sender, f"{flow.name}-sender", client, clock)

    def _explain(self, label: str, status: int | None) -> str:
        output = ""
        for ending in ("err", "out"):
            output += (self.raw / f"{label}.{ending}").read_text(errors="replace")[-500:]
        message = " ".join(output.split()) or "it said nothing"
        return f"{self.titles[label]} exited with {status}: {message}"

    def _check_running(self) -> None:
        if problem := self.background.problem() or self.tracers.problem():
            raise TrafficError(problem)
        for label, process in list(self.running):
            status = process.poll()
            if status is None:
                continue
            self.running.remove((label, process))
            if status:
                raise TrafficError(self._explain(label, status))

    def _agenda(self, sample: Callable[[float], None]) -> Moments:
        """Return what to do when, in order: samples, flow starts, background traffic, droppers."""
        schedule, step_s = self.plan.schedule, self.plan.settings.sample_interval_s
        moments: Moments = [
            (tick * step_s, partial(sample, tick * step_s))
            for tick in range(round(schedule.duration_s / step_s) + 1)
        ]
        moments += [(flow.start_s, partial(self._start_flow, flow)) for flow in schedule.all_flows]
        moments += [*self.background.moments(), *self.moments]
        return sorted(moments, key=lambda moment: moment[0])

    def play(self, progress: Callable[[float], None]) -> None:
        """Run the whole schedule; return when every flow has ended.

        ``progress``: called at every sample with the time in the schedule in s. Raises
        TrafficError or TracerError if a program fails or does not end in time.
        """
        interval_s = self.plan.settings.ping_interval_s
        count = round(self.plan.schedule.duration_s / interval_s)
        first, *others = self.network.layout.bottlenecks
        samplers = [
            QueueSampler(first, self.raw / "queue.txt"),
            *(QueueSampler(port, self.raw / f"queue-{port}.txt") for port in others),
        ]

        def sample(at_s: float) -> None:
            for sampler in samplers:
                sampler.sample(at_s)
            progress(at_s)

        agenda = self._agenda(sample)
        wait_after_tick()
        self.tracers.start(self.network)
        epoch_s = wait_for_whole_second(self.tracers.begin)
        pinger = self.hosts[PINGER]
        self._start(pinger, "ping", ping.arguments(self._target(), interval_s, count))
        for at_s, act in agenda:
            time.sleep(max(0.0, epoch_s + at_s - time.monotonic()))
            self._check_running()
            act()
        self.background.end()
        self._await_end(epoch_s + self.plan.schedule.duration_s + self.plan.grace_s)
        self.tracers.end()
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
