"""Tracers: starts a tracer program at each sending host of a plan with a trace."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path as FilePath

from farpath.guest.network import Network, network_namespace
from farpath.spec import trace
from farpath.spec.plan import Plan
from farpath.spec.settings import VIRTUAL_CLOCK

#: Command of a tracer. Without the site module, whose packages it does not need, Python reads
#: the clock less often.
PROGRAM = (sys.executable, "-S", "-m", "farpath.guest.tracer")


class TracerError(RuntimeError):
    """A tracer did not start or ended early; the text holds its message."""


class Tracers:
    """The tracers of a run; there are none if the plan has no trace."""

    def __init__(self, plan: Plan, raw: FilePath) -> None:
        self.plan = plan
        self.raw = raw
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, network: Network) -> None:
        """Start all tracers, and wait until they are ready for the schedule to start."""
        for host in trace.hosts(self.plan):
            if network.has(host):
                self._start(host, network)
        for host, process in self.running.items():
            assert process.stdout is not None
            if process.stdout.readline() != b"ready\n":
                process.wait()
                raise TracerError(self.problem() or f"the tracer of {host} is not ready")

    def _start(self, host: str, network: Network) -> None:
        flows = [flow for flow in trace.flows(self.plan) if flow.sender == host]
        address = network.address(flows[0].receiver)
        config = trace.tracer_config(
            self.plan,
            flows,
            file=str(self.raw / f"{host}{trace.SUFFIX}"),
            family=socket.AF_INET6 if ":" in address else socket.AF_INET,
            last_in_line=self.plan.settings.clock == VIRTUAL_CLOCK,
        )
        with (
            network_namespace(network.pid(host)),
            (self.raw / f"{host}-tracer.err").open("wb") as errors,
        ):
            process = subprocess.Popen(
                PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
        self.running[host] = process
        self._send_line(process, config.to_json())

    @staticmethod
    def _send_line(process: subprocess.Popen[bytes], line: bytes) -> None:
        assert process.stdin is not None
        process.stdin.write(line + b"\n")
        process.stdin.flush()

    def begin(self, epoch_ns: int) -> None:
        """Send all tracers the schedule's start, in ns of the monotonic clock."""
        for process in self.running.values():
            self._send_line(process, b"%d" % epoch_ns)

    def problem(self) -> str:
        """Return the message of a tracer that ended by itself; empty if all are running."""
        for host, process in self.running.items():
            if process.poll() is not None:
                output = (self.raw / f"{host}-tracer.err").read_text(errors="replace").strip()
                message = output.splitlines()[-1] if output else "it said nothing"
                return f"the tracer of {host} exited with {process.returncode}: {message}"
        return ""

    def end(self) -> None:
        """Make all tracers write their rows and exit; raises TracerError if one fails."""
        for process in self.running.values():
            process.send_signal(signal.SIGTERM)
        for host, process in self.running.items():
            if process.wait():
                raise TracerError(self.problem() or f"the tracer of {host} failed")
        self.running.clear()
