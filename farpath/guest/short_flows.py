"""Short flows: starts their client and server, and ends them with the schedule."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path as FilePath

from farpath.guest.background import Moments
from farpath.guest.network import Network, network_namespace
from farpath.spec.arrivals import SERVER_PORT
from farpath.spec.hosts import CLIENT, SERVER
from farpath.spec.plan import Plan
from farpath.spec.protocol import SHORT_FLOWS_FILE
from farpath.tools.short_flows import ServerConfig

#: Command of a program; without the site module Python reads the clock less often.
PROGRAM = (sys.executable, "-S", "-m")


class ShortFlowPrograms:
    """The client and the server of a path's short flows, as far as they are at this site.

    There are none if the path has no short flows.
    """

    def __init__(self, plan: Plan, network: Network, raw: FilePath) -> None:
        self.plan = plan
        self.network = network
        self.raw = raw
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def moments(self, epoch_ns: int, lead_s: float) -> Moments:
        """Return when the programs start, in s from the schedule's start.

        ``epoch_ns``: the schedule's start by the monotonic clock. ``lead_s``: how long before it
        they are started.
        """
        if self.plan.path.short_flows is None:
            return []
        configs: dict[str, Callable[[], bytes]] = {
            SERVER: self._server_config,
            CLIENT: partial(self._client_config, epoch_ns),
        }
        return [
            (-lead_s, partial(self._start, host, config))
            for host, config in configs.items()
            if self.network.has(host)
        ]

    def _server_config(self) -> bytes:
        assert self.plan.path.short_flows is not None
        file = str(self._file(SERVER))
        congestion = self.plan.path.short_flows.congestion
        return ServerConfig(SERVER_PORT, self.plan.ip_version == 6, congestion, file).to_json()

    def _client_config(self, epoch_ns: int) -> bytes:
        config = {
            "plan": self.plan.as_dict(),
            "address": self.network.address(SERVER),
            "epoch_ns": epoch_ns,
            "file": str(self._file(CLIENT)),
        }
        return json.dumps(config).encode()

    def _file(self, host: str) -> FilePath:
        return self.raw / SHORT_FLOWS_FILE.format(host=host)

    def _errors(self, host: str) -> FilePath:
        return self.raw / f"{host}.err"

    def _start(self, host: str, config: Callable[[], bytes]) -> None:
        with network_namespace(self.network.pid(host)), self._errors(host).open("wb") as errors:
            process = subprocess.Popen(
                [*PROGRAM, f"farpath.guest.short_flow_{host}"],
                stdin=subprocess.PIPE,
                stdout=errors,
                stderr=errors,
            )
        self.running[host] = process
        assert process.stdin is not None
        process.stdin.write(config() + b"\n")
        process.stdin.flush()

    def problem(self) -> str:
        """Return the message of a program that failed; empty if there is none."""
        for host, process in self.running.items():
            if process.poll():
                output = self._errors(host).read_text(errors="replace").strip()
                message = output.splitlines()[-1] if output else "it said nothing"
                return f"the {host} of short flows exited with {process.returncode}: {message}"
        return ""

    def end(self) -> None:
        """Wait until the client has ended, which it does with the schedule; end the server."""
        for process in self.running.values():
            assert process.stdin is not None
            process.stdin.close()
            process.wait()
