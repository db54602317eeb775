"""Datagram listeners: one at the receiver of each flow whose arrivals are noted."""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import sys
from pathlib import Path as FilePath

from farpath.guest.device import Device, Site, exit_message
from farpath.guest.network import network_namespace
from farpath.programs.iperf3.device import Iperf3Ends
from farpath.programs.udp.guest.datagram_listener import Listening
from farpath.spec.datagrams import notes_arrivals, pacing_bps, sent_spacing_ns, size_bytes
from farpath.spec.plan import Plan
from farpath.spec.protocol import ARRIVALS_FILE
from farpath.spec.schedule import Flow
from farpath.spec.stack import UDP
from farpath.tools import iperf3

PROGRAM = (sys.executable, "-S", "-m", "farpath.programs.udp.guest.datagram_listener")


def noted_flows(site: Site) -> list[Flow]:
    """Return the flows to a site whose arrivals are noted."""
    return [
        flow
        for flow in site.plan.schedule.all_flows
        if notes_arrivals(site.plan.stack_of(flow)) and site.has(flow.receiver)
    ]


class DatagramListeners(Device):
    """The listeners of a site, by the name of their flow."""

    raw: FilePath

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether arrivals at a site are noted."""
        return bool(noted_flows(site))

    def start(self, raw: FilePath) -> None:
        """Keep where the output goes."""
        self.raw = raw

    def _errors(self, flow: str) -> FilePath:
        return self.raw / f"{flow}-arrivals.err"

    def begin(self, epoch_ns: int) -> None:
        """Start all listeners, and wait until they listen."""
        version = self.plan.ip_version
        for flow in noted_flows(self.site):
            stack = self.plan.stack_of(flow)
            listening = Listening(flow.port, version, sent_spacing_ns(stack, version))
            with (
                network_namespace(self.network.pid(flow.receiver)),
                self._errors(flow.name).open("wb") as errors,
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
                return exit_message(f"the listener of {flow}", process, self._errors(flow))
        return ""

    def end(self) -> None:
        """Make all listeners end, and keep what they noted among the raw files."""
        for flow, process in self.running.items():
            process.send_signal(signal.SIGTERM)
            noted, _ = process.communicate()
            (self.raw / ARRIVALS_FILE.format(flow=flow)).write_bytes(noted)
        self.running.clear()


DEVICES = (DatagramListeners,)


class DatagramEnds(Iperf3Ends):
    """iperf3 over UDP."""

    program = UDP

    def sender(self, plan: Plan, flow: Flow, address: str) -> list[str]:
        """Return the command of a sender, whose datagrams fq spaces."""
        stack, interval_s = plan.stack_of(flow), plan.settings.flow_interval_s
        return iperf3.datagram_client_arguments(
            flow, address, interval_s, size_bytes(stack), pacing_bps(stack, plan.ip_version)
        )


ENDS = DatagramEnds()
