"""Other traffic of programs: the sources of flows' labs, and short flows that end with a client."""

from __future__ import annotations

import subprocess
from typing import Any

from farpath.guest.device import Moments
from farpath.guest.network import network_namespace
from farpath.mechanisms.traffic.device import PROGRAM, KernelSources, ProgramSources, ShortFlows
from farpath.spec.hosts import CLIENT, SERVER

MODULE = "farpath.mechanisms.traffic.guest.short_flow_program_client"


class ProgramShortFlows(ShortFlows):
    """The client and the server of short flows beside a user's programs.

    They start with the servers, so that the first flow is not late, and flows count from the start
    of the user's client. Both hosts are in the one guest of such a lab.
    """

    others_bytes = 0

    def read_back(self) -> dict[str, Any]:
        """Return what the server has sent since it started, in bytes of frames.

        Before, its host has got addresses of IPv6 too, and tells that to its neighbours.
        """
        found = super().read_back()
        return {name: value - self.others_bytes for name, value in found.items()}

    def moments(self, epoch_ns: int) -> Moments:
        """Return nothing: the programs have a schedule of their own."""
        return []

    def begin(self, epoch_ns: int) -> None:
        """Start the programs."""
        (self.others_bytes,) = self.read_back().values()
        self._start(SERVER, self._server_config)
        with network_namespace(self.network.pid(CLIENT)), self._errors(CLIENT).open("wb") as errors:
            client = subprocess.Popen(
                [*PROGRAM, MODULE], stdin=subprocess.PIPE, stdout=errors, stderr=errors
            )
        self.running[CLIENT] = client
        assert client.stdin is not None
        client.stdin.write(self._client_config(epoch_ns) + b"\n")
        client.stdin.flush()

    def stop(self) -> None:
        """End the client, and then the server."""
        for host in (CLIENT, SERVER):
            process = self.running[host]
            assert process.stdin is not None
            process.stdin.close()
            process.wait()


DEVICES = (KernelSources, ProgramSources, ProgramShortFlows)
