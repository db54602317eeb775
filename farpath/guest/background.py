"""Background traffic: its sources, which are continued and stopped at their on periods."""

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
    """The programs of a path's sources; each sends as long as it is not stopped by a signal."""

    def __init__(self, plan: Plan, network: Network, raw: FilePath) -> None:
        self.plan = plan
        self.errors = raw / "background.err"
        self.sources: list[subprocess.Popen[bytes]] = []
        path = plan.path
        if not path.background or not network.has(BACKGROUND):
            return
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
        if not self.plan.path.background or not self.sources:
            return []
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
