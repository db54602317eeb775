"""Background traffic: its sources, which send during their on periods.

In a lab of its own kernel the sources are a kernel module's; on a shared kernel they are programs.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path as FilePath
from typing import Protocol

from farpath.guest import addresses
from farpath.guest.network import Network, network_namespace
from farpath.spec.background import on_periods
from farpath.spec.hosts import BACKGROUND
from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.protocol import BACKGROUND_MODULE
from farpath.tools import background_frames, modules, socat

#: Parameter of the kernel module: a bit for each source that sends.
ON_PARAMETER = FilePath("/sys/module", BACKGROUND_MODULE, "parameters/on")

Moments = list[tuple[float, Callable[[], None]]]


def load(plan: Plan, layout: Layout, directory: FilePath) -> None:
    """Load the kernel module of background traffic, which makes its port at the switch.

    ``directory``: that of the site's modules.
    """
    background = plan.path.background
    assert background is not None
    receiver = plan.schedule.flows[0].receiver
    header, port_offset = background_frames.header(
        addresses.mac_address(layout, receiver),
        addresses.mac_address(layout, BACKGROUND),
        addresses.address(layout, BACKGROUND, plan.ip_version),
        addresses.sink_address(layout, plan.ip_version),
        plan.path.mtu_bytes,
    )
    values = {
        "device": layout.peer(BACKGROUND).name,
        "sources": background.sources,
        "rate_bps": background.rate_bps,
        "frame_bytes": plan.path.frame_bytes,
        "header": ",".join(str(byte) for byte in header),
        "port_offset": port_offset,
    }
    modules.insert(directory, BACKGROUND_MODULE, values)


class Background(Protocol):
    """The sources of a path's background traffic at one site."""

    def moments(self) -> Moments:
        """Return when sources start and stop sending, in s from the schedule's start."""

    def problem(self) -> str:
        """Return the message of a source that ended by itself; empty if there is none."""

    def end(self) -> None:
        """End all sources."""


class KernelSources:
    """The sources of the kernel module ``background``, which has made a port of the network."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.sending = 0

    def moments(self) -> Moments:
        """Return when each source is switched, in s from the schedule's start."""
        assert self.plan.path.background is not None
        duration_s = self.plan.schedule.duration_s
        return [
            (at_s, partial(self._switch, period.source))
            for period in on_periods(self.plan.path.background, self.plan.seed, duration_s)
            for at_s in (period.start_s, period.stop_s)
        ]

    def _switch(self, source: int) -> None:
        self._send(self.sending ^ 1 << source)

    def _send(self, sources: int) -> None:
        self.sending = sources
        ON_PARAMETER.write_text(str(sources), encoding="ascii")

    def problem(self) -> str:
        """Return an empty text: a module does not end by itself."""
        return ""

    def end(self) -> None:
        """Switch all sources off."""
        self._send(0)


class NoSources:
    """A site without background traffic."""

    def moments(self) -> Moments:
        """Return an empty list."""
        return []

    def problem(self) -> str:
        """Return an empty text."""
        return ""

    def end(self) -> None:
        """Do nothing."""


def background_of(plan: Plan, network: Network, raw: FilePath) -> Background:
    """Return the sources of a path's background traffic at this site."""
    if not plan.path.background or not network.has(BACKGROUND):
        return NoSources()
    return Programs(plan, network, raw) if network.platform.shared else KernelSources(plan)


class Programs:
    """The programs of a path's sources; each sends as long as it is not stopped by a signal."""

    def __init__(self, plan: Plan, network: Network, raw: FilePath) -> None:
        self.plan = plan
        self.errors = raw / "background.err"
        self.sources: list[subprocess.Popen[bytes]] = []
        path = plan.path
        assert path.background is not None
        with network_namespace(network.pid(BACKGROUND)), self.errors.open("wb") as errors:
            for source in range(path.background.sources):
                process = subprocess.Popen(
                    socat.arguments(
                        *(source, path.background.rate_bps, path.mtu_bytes),
                        *(network.sink_address, plan.ip_version),
                    ),
                    stdin=subprocess.DEVNULL,
                    stdout=errors,
                    stderr=errors,
                )
                process.send_signal(signal.SIGSTOP)
                self.sources.append(process)

    def moments(self) -> Moments:
        """Return when each source is continued or stopped, in s from the schedule's start."""
        assert self.plan.path.background is not None
        duration_s = self.plan.schedule.duration_s
        moments: Moments = []
        for period in on_periods(self.plan.path.background, self.plan.seed, duration_s):
            source = self.sources[period.source]
            moments.append((period.start_s, partial(source.send_signal, signal.SIGCONT)))
            moments.append((period.stop_s, partial(source.send_signal, signal.SIGSTOP)))
        return moments

    def problem(self) -> str:
        """Return the message of a source that ended by itself; empty if all are running."""
        ended = [status for source in self.sources if (status := source.poll()) is not None]
        if not ended:
            return ""
        message = " ".join(self.errors.read_text(errors="replace").split()) or "it said nothing"
        return f"a source of background traffic exited with {ended[0]}: {message}"

    def end(self) -> None:
        """Kill all sources."""
        for source in self.sources:
            source.kill()
            source.wait()
        self.sources.clear()
