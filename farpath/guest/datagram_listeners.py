"""Datagram listeners: starts one at the receiver of each flow whose arrivals are noted."""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import sys
from pathlib import Path as FilePath

from farpath.guest.datagram_listener import Listening
from farpath.guest.network import Network, network_namespace
from farpath.spec.datagrams import notes_arrivals, sent_spacing_ns
from farpath.spec.plan import Plan
from farpath.spec.protocol import ARRIVALS_FILE

PROGRAM = (sys.executable, "-S", "-m", "farpath.guest.datagram_listener")


class DatagramListeners:
    """The listeners of a site, by the name of their flow; there may be none."""

    def __init__(self, plan: Plan, network: Network, raw: FilePath) -> None:
        self.plan = plan
        self.network = network
        self.raw = raw
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start all listeners, and wait until they listen."""
        for flow in self.plan.schedule.all_flows:
            stack = self.plan.stack_of(flow)
            if not (notes_arrivals(stack) and self.network.has(flow.receiver)):
                continue
            version = self.plan.ip_version
            listening = Listening(flow.port, version, sent_spacing_ns(stack, version))
            with (
                network_namespace(self.network.pid(flow.receiver)),
                (self.raw / f"{flow.name}-arrivals.err").open("wb") as errors,
            ):
                self.running[flow.name] = subprocess.Popen(
                    [*PROGRAM, json.dumps(dataclasses.asdict(listening))],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                )
        for process in self.running.values():
            assert process.stdout is not None
            process.stdout.readline()

    def problem(self) -> str:
        """Return the message of a listener that ended by itself; empty if all are running."""
        for flow, process in self.running.items():
            if process.poll() is not None:
                output = (self.raw / f"{flow}-arrivals.err").read_text(errors="replace").strip()
                message = output.splitlines()[-1] if output else "it said nothing"
                return f"the listener of {flow} exited with {process.returncode}: {message}"
        return ""

    def end(self) -> None:
        """Make all listeners end, and keep what they noted among the raw files."""
        for flow, process in self.running.items():
            process.send_signal(signal.SIGTERM)
            noted, _ = process.communicate()
            (self.raw / ARRIVALS_FILE.format(flow=flow)).write_bytes(noted)
        self.running.clear()
