"""Traffic: flows started and ended on time, pings, samples of the bottleneck."""

from __future__ import annotations

import heapq
import subprocess
import time
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import IO

from farpath.flows import iperf3, ping
from farpath.guest.hosts import SINK_LIBRARY, EndHost
from farpath.guest.network import Network
from farpath.plan import Plan
from farpath.schedule import Flow

#: How long a flow may overrun its end, in virtual seconds: iperf3 needs some
#: round trips to close a test and exchange results.
GRACE_S = 60.0


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
        assert self.tc.stdin is not None and self.tc.stdout is not None
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
    """Plays a schedule on a network and leaves the tools' own output in ``raw``."""

    def __init__(
        self,
        plan: Plan,
        network: Network,
        hosts: dict[str, EndHost],
        raw: FilePath,
        progress: Callable[[float], None],
    ) -> None:
        self.plan = plan
        self.network = network
        self.hosts = hosts
        self.raw = raw
        self.progress = progress
        self.files: list[IO[bytes]] = []
        self.running: list[tuple[str, subprocess.Popen[bytes]]] = []

    def _output(self, name: str) -> IO[bytes]:
        file = (self.raw / name).open("wb")
        self.files.append(file)
        return file

    def _start(
        self,
        host: str,
        label: str,
        arguments: list[str],
        environment: dict[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        process = self.hosts[host].start(
            arguments, self._output(f"{label}.out"), self._output(f"{label}.err"), environment
        )
        self.running.append((label, process))
        return process

    def measure_base_rtt(self, count: int) -> None:
        """Ping the idle path; the host compares the result with the path's RTT."""
        target = self.network.address(self.plan.schedule.flows[0].receiver)
        process = self._start(
            "pinger", "ping-idle", ping.arguments(target, 0.2, count)
        )
        if process.wait():
            raise TrafficError(self._explain("ping-idle", process.returncode))
        self.running.clear()

    def _start_flow(self, flow: Flow) -> None:
        settings = self.plan.settings
        environment = {}
        if settings.receiver_discards:
            environment = {
                "LD_PRELOAD": SINK_LIBRARY,
                "SINK_WAKE_BYTES": str(settings.wake_bytes),
            }
        self._start(
            flow.receiver, f"{flow.name}-receiver", iperf3.server_arguments(flow), environment
        )
        while not self.hosts[flow.receiver].listens(flow.port):
            self._check_running()
            time.sleep(0.001)
        address = self.network.address(flow.receiver)
        self._start(
            flow.sender,
            f"{flow.name}-sender",
            iperf3.client_arguments(flow, address),
        )

    def _explain(self, label: str, status: int | None) -> str:
        said = ""
        for ending in ("err", "out"):
            said += (self.raw / f"{label}.{ending}").read_text(errors="replace")[-500:]
        return f"{label} exited with {status}: {' '.join(said.split()) or 'it said nothing'}"

    def _check_running(self) -> None:
        for label, process in list(self.running):
            status = process.poll()
            if status is None:
                continue
            self.running.remove((label, process))
            if status:
                raise TrafficError(self._explain(label, status))

    def play(self, before_each_second: Callable[[float], None]) -> None:
        """Run the whole schedule; returns when every flow has ended."""
        schedule = self.plan.schedule
        settings = self.plan.settings
        target = self.network.address(schedule.flows[0].receiver)
        epoch_s = time.monotonic()
        events: list[tuple[float, int, Flow | None]] = []
        for number, flow in enumerate(schedule.flows):
            heapq.heappush(events, (flow.start_s, number, flow))
        ticks = round(schedule.duration_s / settings.sample_interval_s)
        for tick in range(ticks + 1):
            heapq.heappush(events, (tick * settings.sample_interval_s, -1, None))
        pings = round(schedule.duration_s / settings.ping_interval_s)
        self._start("pinger", "ping", ping.arguments(target, settings.ping_interval_s, pings))
        while events:
            at_s, _, flow = heapq.heappop(events)
            delay_s = epoch_s + at_s - time.monotonic()
            if delay_s > 0:
                time.sleep(delay_s)
            self._check_running()
            if flow:
                self._start_flow(flow)
            else:
                before_each_second(at_s)
                self.progress(at_s)
        end_s = epoch_s + schedule.duration_s + GRACE_S
        while self.running:
            if time.monotonic() > end_s:
                late = ", ".join(label for label, _ in self.running)
                raise TrafficError(f"{late} did not end within {GRACE_S:g} s of the schedule")
            time.sleep(0.05)
            self._check_running()

    def close(self) -> None:
        """Close the output files."""
        for file in self.files:
            file.close()
