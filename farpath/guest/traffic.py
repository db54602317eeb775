"""Traffic: flows started and ended on time, pings, samples of the bottleneck."""

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
from farpath.guest.system import after_tick, whole_second
from farpath.guest.tracers import Tracers
from farpath.spec.hosts import PINGER
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow
from farpath.spec.stack import IMAGE, IPERF3
from farpath.tools import iperf3, iperf3_like, ping
from farpath.tools.commands import run

#: How long a flow's receiver may take to wait on its port, in virtual seconds, in
#: which computing costs nothing.
LISTEN_LIMIT_S = 10.0
IDLE_PING_INTERVAL_S = 0.2


class TrafficError(RuntimeError):
    """A flow or a ping did not do what the schedule says."""


class QueueSampler:
    """One ``tc`` that stays, asked for the bottleneck's statistics on time."""

    def __init__(self, port: str, output: FilePath) -> None:
        self.port = port
        self.output = output.open("wb")
        self.tc = subprocess.Popen(
            ["stdbuf", "-oL", "tc", "-s", "-j", "-batch", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def sample(self, t_s: float) -> None:
        """Append one line: time, blank, what tc says."""
        assert self.tc.stdin is not None
        assert self.tc.stdout is not None
        self.tc.stdin.write(f"qdisc show dev {self.port}\n".encode())
        self.tc.stdin.flush()
        answer = self.tc.stdout.readline()
        if not answer:
            raise TrafficError(f"tc ended while sampling {self.port}")
        self.output.write(f"{t_s:.6f} ".encode() + answer)

    def close(self) -> None:
        """End tc and keep what it said."""
        assert self.tc.stdin is not None
        self.tc.stdin.close()
        self.tc.wait()
        self.output.close()


class Traffic:
    """Plays a schedule on a network and leaves the tools' own output in ``raw``.

    ``moments``: what else is to be done when.
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
        """Let the path empty: full buffers and whatever is on its way."""
        time.sleep(self.plan.drain_s)

    def ping_idle_path(self, count: int, label: str = "ping-idle") -> str:
        """What ping says of the path without any traffic."""
        idle = ping.arguments(self._target(), IDLE_PING_INTERVAL_S, count)
        process = self._start(self.hosts[PINGER], label, idle)
        if process.wait():
            raise TrafficError(self._explain(label, process.returncode))
        self.running.clear()
        return (self.raw / f"{label}.out").read_text()

    def ping_from_senders(self, count: int) -> Iterator[tuple[str, str]]:
        """What the lab's ping says from each sender's port to its receiver, if there are several.

        It is the lab's own, since a user's image need not have one.
        """
        ways = {flow.sender: flow.receiver for flow in self.plan.schedule.flows}
        for sender, receiver in ways.items() if len(ways) > 1 else ():
            target = self.network.address(receiver)
            with network_namespace(self.network.pid(sender)):
                said = run(*ping.arguments(target, IDLE_PING_INTERVAL_S, count))
            (self.raw / f"ping-idle-{sender}.out").write_text(said)
            yield sender, said

    def _receiver_environment(self, flow: Flow) -> dict[str, str]:
        """What a flow's receiving program is told beside its arguments."""
        settings = self.plan.settings
        if not settings.receiver_discards or self.plan.stack_of(flow).program != IPERF3:
            return {}
        return {PRELOAD: SINK_LIBRARY, "SINK_WAKE_BYTES": str(settings.wake_bytes)}

    def _commands(self, flow: Flow) -> tuple[list[str], list[str]]:
        """The commands of a flow's receiver and of its sender."""
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
        receiver = self.hosts.running(flow, flow.receiver)
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
        sender = self.hosts.running(flow, flow.sender)
        self._start(sender, f"{flow.name}-sender", client, clock)

    def _explain(self, label: str, status: int | None) -> str:
        said = ""
        for ending in ("err", "out"):
            said += (self.raw / f"{label}.{ending}").read_text(errors="replace")[-500:]
        words = " ".join(said.split()) or "it said nothing"
        return f"{self.titles[label]} exited with {status}: {words}"

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
        """What to do when, in order: samples, flows to start, turns of other traffic."""
        schedule, step_s = self.plan.schedule, self.plan.settings.sample_interval_s
        moments: Moments = [
            (tick * step_s, partial(sample, tick * step_s))
            for tick in range(round(schedule.duration_s / step_s) + 1)
        ]
        moments += [(flow.start_s, partial(self._start_flow, flow)) for flow in schedule.all_flows]
        moments += [*self.background.moments(), *self.moments]
        return sorted(moments, key=lambda moment: moment[0])

    def play(self, progress: Callable[[float], None]) -> None:
        """Run the whole schedule; returns when every flow has ended."""
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
        after_tick()
        self.tracers.start(self.network)
        epoch_s = whole_second(self.tracers.begin)
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
