"""A path's background traffic: its sources, stopped and continued at their turns."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path as FilePath

from farpath.guest.network import Network, network_namespace
from farpath.spec.background import on_periods
from farpath.spec.hosts import BACKGROUND
from farpath.spec.plan import Plan
from farpath.tools import socat

Moments = list[tuple[float, Callable[[], None]]]


class BackgroundTraffic:
    """One program for each source, which sends but for the time that it is stopped."""

    def __init__(self, plan: Plan, network: Network, raw: FilePath) -> None:
        self.plan = plan
        self.errors = raw / "background.err"
        self.sources: list[subprocess.Popen[bytes]] = []
        path = plan.path
        if not path.background:
            return
        with network_namespace(network.pid(BACKGROUND)), self.errors.open("wb") as errors:
            for source in range(path.background.sources):
                process = subprocess.Popen(
                    socat.arguments(
                        *(source, path.background.rate_bps, path.mtu_bytes),
                        *(network.nowhere, plan.ip_version),
                    ),
                    stdin=subprocess.DEVNULL,
                    stdout=errors,
                    stderr=errors,
                )
                process.send_signal(signal.SIGSTOP)
                self.sources.append(process)

    def moments(self) -> Moments:
        """When which source is continued or stopped, in s from the schedule's start."""
        if not self.plan.path.background:
            return []
        duration_s = self.plan.schedule.duration_s
        found: Moments = []
        for turn in on_periods(self.plan.path.background, self.plan.seed, duration_s):
            source = self.sources[turn.source]
            found.append((turn.start_s, partial(source.send_signal, signal.SIGCONT)))
            found.append((turn.stop_s, partial(source.send_signal, signal.SIGSTOP)))
        return found

    def problem(self) -> str:
        """What a source that ended by itself said; empty if all are there."""
        ended = [status for source in self.sources if (status := source.poll()) is not None]
        if not ended:
            return ""
        words = " ".join(self.errors.read_text(errors="replace").split()) or "it said nothing"
        return f"a source of background traffic exited with {ended[0]}: {words}"

    def end(self) -> None:
        """Kill all sources."""
        for source in self.sources:
            source.kill()
            source.wait()
        self.sources.clear()
