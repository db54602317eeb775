"""Other traffic: the sources of background traffic, and the client and server of short flows.

In a lab of its own kernel the sources are a kernel module's; on a shared kernel they are programs.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from farpath.guest import addresses
from farpath.guest.device import LEAD_S, Device, Moments, Site, exit_message
from farpath.guest.network import network_namespace
from farpath.spec.arrivals import SERVER_PORT
from farpath.spec.background import Background, on_periods
from farpath.spec.hosts import BACKGROUND, CLIENT, SERVER
from farpath.spec.protocol import BACKGROUND_MODULE, SHORT_FLOWS_FILE
from farpath.tools import background_frames, modules, socat
from farpath.tools.short_flows import ServerConfig

#: Parameter of the kernel module: a bit for each source that sends.
ON_PARAMETER = FilePath("/sys/module", BACKGROUND_MODULE, "parameters/on")
#: Command of a program of short flows; without the site module Python reads the clock less often.
PROGRAM = (sys.executable, "-S", "-m")


class Sources(Device):
    """The sources of background traffic at a site, which send during their on periods."""

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether a site has the sources, in their form of its platform."""
        return site.plan.path.background is not None and site.has(BACKGROUND)

    @property
    def background(self) -> Background:
        """The background traffic of the plan."""
        assert self.plan.path.background is not None
        return self.plan.path.background

    def moments(self, epoch_ns: int) -> Moments:
        """Return when each source is switched on and off."""
        return [
            (at_s, partial(self.switch, period.source, is_on))
            for period in on_periods(self.background, self.plan.seed, self.plan.schedule.duration_s)
            for at_s, is_on in ((period.start_s, True), (period.stop_s, False))
        ]

    def switch(self, source: int, is_on: bool) -> None:
        """Let a source send, or stop it."""
        raise NotImplementedError


class KernelSources(Sources):
    """The sources of the kernel module ``background``, which has made a port of the network."""

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.sending = 0

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether a site of a guest's own kernel has the sources."""
        return super().is_at(site) and not site.platform.shared

    def load(self) -> None:
        """Load the module, which makes its port at the switch."""
        plan, layout = self.plan, self.site.layout
        header, port_offset = background_frames.header(
            addresses.mac_address(layout, plan.schedule.flows[0].receiver),
            addresses.mac_address(layout, BACKGROUND),
            addresses.address(layout, BACKGROUND, plan.ip_version),
            addresses.sink_address(layout, plan.ip_version),
            plan.path.mtu_bytes,
        )
        values = {
            "device": layout.peer(BACKGROUND).name,
            "sources": self.background.sources,
            "rate_bps": self.background.rate_bps,
            "frame_bytes": plan.path.frame_bytes,
            "header": ",".join(str(byte) for byte in header),
            "port_offset": port_offset,
        }
        modules.insert(self.site.modules, BACKGROUND_MODULE, values)

    def read_back(self) -> dict[str, Any]:
        """Return how much was sent, in bytes of frames."""
        peer = self.site.layout.peer(BACKGROUND)
        return {"background_bytes": self.network.port_bytes(peer.node, peer.name, "rx")}

    def switch(self, source: int, is_on: bool) -> None:
        """Set or clear a source's bit."""
        bit = 1 << source
        self._send(self.sending | bit if is_on else self.sending & ~bit)

    def _send(self, sources: int) -> None:
        self.sending = sources
        ON_PARAMETER.write_text(str(sources), encoding="ascii")

    def stop(self) -> None:
        """Switch all sources off."""
        self._send(0)


class ProgramSources(Sources):
    """The programs of a path's sources; each sends as long as it is not stopped by a signal."""

    errors: FilePath

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.sources: list[subprocess.Popen[bytes]] = []

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether a site of a shared kernel has the sources."""
        return super().is_at(site) and site.platform.shared

    def read_back(self) -> dict[str, Any]:
        """Return how much was sent, in bytes of frames."""
        sent_bytes = self.network.port_bytes(BACKGROUND, f"{BACKGROUND}-eth0", "tx")
        return {"background_bytes": sent_bytes}

    def start(self, raw: FilePath) -> None:
        """Start all programs, stopped."""
        self.errors = raw / "background.err"
        mtu_bytes = self.plan.path.mtu_bytes
        with network_namespace(self.network.pid(BACKGROUND)), self.errors.open("wb") as errors:
            for source in range(self.background.sources):
                process = subprocess.Popen(
                    socat.arguments(
                        *(source, self.background.rate_bps, mtu_bytes),
                        *(self.network.sink_address, self.plan.ip_version),
                    ),
                    stdin=subprocess.DEVNULL,
                    stdout=errors,
                    stderr=errors,
                )
                process.send_signal(signal.SIGSTOP)
                self.sources.append(process)

    def switch(self, source: int, is_on: bool) -> None:
        """Continue or stop a program."""
        self.sources[source].send_signal(signal.SIGCONT if is_on else signal.SIGSTOP)

    def problem(self) -> str:
        """Return the message of a source that ended by itself; empty if all are running."""
        ended = (source for source in self.sources if source.poll() is not None)
        messages = (
            exit_message("a source of background traffic", source, self.errors) for source in ended
        )
        return next(messages, "")

    def stop(self) -> None:
        """Kill all sources."""
        for source in self.sources:
            source.kill()
            source.wait()
        self.sources.clear()


class ShortFlows(Device):
    """The client and the server of a path's short flows, as far as they are at this site."""

    raw: FilePath

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether a site has a program of short flows."""
        has_flows = site.plan.path.short_flows is not None
        return has_flows and (site.has(SERVER) or site.has(CLIENT))

    def read_back(self) -> dict[str, Any]:
        """Return what the server has sent, in bytes of frames."""
        if not self.site.has(SERVER):
            return {}
        return {"short_flow_bytes": self.network.port_bytes(SERVER, f"{SERVER}-eth0", "tx")}

    def start(self, raw: FilePath) -> None:
        """Keep where the programs write."""
        self.raw = raw

    def moments(self, epoch_ns: int) -> Moments:
        """Return when the programs start."""
        configs: dict[str, Callable[[], bytes]] = {
            SERVER: self._server_config,
            CLIENT: partial(self._client_config, epoch_ns),
        }
        return [
            (-LEAD_S, partial(self._start, host, config))
            for host, config in configs.items()
            if self.site.has(host)
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
                [*PROGRAM, f"farpath.mechanisms.traffic.guest.short_flow_{host}"],
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
                return exit_message(f"the {host} of short flows", process, self._errors(host))
        return ""

    def stop(self) -> None:
        """Wait until the client has ended, which it does with the schedule; end the server."""
        for process in self.running.values():
            assert process.stdin is not None
            process.stdin.close()
            process.wait()


DEVICES = (KernelSources, ProgramSources, ShortFlows)
