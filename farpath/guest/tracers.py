"""Tracers: one program at each sending host, where a trace is asked for."""

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

#: Without site, whose packages it needs none of: less to read the clock for.
PROGRAM = (sys.executable, "-S", "-m", "farpath.guest.tracer")


class TracerError(RuntimeError):
    """A tracer did not start or did not go on; the text says what it said."""


class Tracers:
    """The tracers of a run; none where no trace is asked for."""

    def __init__(self, plan: Plan, raw: FilePath) -> None:
        self.plan = plan
        self.raw = raw
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, network: Network) -> None:
        """Start all, and wait until they wait for the schedule to begin."""
        for host in trace.hosts(self.plan):
            self._start(host, network)
        for host, process in self.running.items():
            assert process.stdout is not None
            if process.stdout.readline() != b"ready\n":
                process.wait()
                raise TracerError(self.problem() or f"the tracer of {host} is not ready")

    def _start(self, host: str, network: Network) -> None:
        flows = [flow for flow in trace.flows(self.plan) if flow.sender == host]
        far = network.address(flows[0].receiver)
        orders = trace.tracer_config(
            self.plan,
            flows,
            file=str(self.raw / f"{host}{trace.SUFFIX}"),
            family=socket.AF_INET6 if ":" in far else socket.AF_INET,
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
        self._tell(process, orders.to_json())

    @staticmethod
    def _tell(process: subprocess.Popen[bytes], line: bytes) -> None:
        assert process.stdin is not None
        process.stdin.write(line + b"\n")
        process.stdin.flush()

    def begin(self, second: int) -> None:
        """Tell all when the schedule begins, in s of the monotonic clock."""
        for process in self.running.values():
            self._tell(process, b"%d" % (second * 1_000_000_000))

    def problem(self) -> str:
        """What a tracer that ended by itself said; empty if all are there."""
        for host, process in self.running.items():
            if process.poll() is not None:
                said = (self.raw / f"{host}-tracer.err").read_text(errors="replace").strip()
                words = said.splitlines()[-1] if said else "it said nothing"
                return f"the tracer of {host} exited with {process.returncode}: {words}"
        return ""

    def end(self) -> None:
        """Have all write what they saw."""
        for process in self.running.values():
            process.send_signal(signal.SIGTERM)
        for host, process in self.running.items():
            if process.wait():
                raise TracerError(self.problem() or f"the tracer of {host} failed")
        self.running.clear()
