"""The cost of scale: the fastest, longest and fullest paths, and requests refused before boot."""

from __future__ import annotations

import dataclasses
import tempfile
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from benchmarks.lab.figure import ratio
from benchmarks.lab.lab_runs import RunMeasurement, recorded_run
from farpath.base.errors import FarpathError
from farpath.lab import uml
from farpath.lab.artifacts.images import find_images
from farpath.planning.memory import run_bytes
from farpath.planning.request import RunRequest
from farpath.spec.plan import Plan
from farpath.spec.window import segment_bytes

#: One Reno flow: its window does not depend on the size of the path.
_FLOW = RunRequest(stack="reno", schedule="together")
_FLOWS = dataclasses.replace(_FLOW, stack="100xreno")
#: Requests that are run, each of 10 to 30 virtual seconds. The first is that of the land speed
#: record: a window of the bandwidth-delay product (experiments/window_cap).
RUNS = (
    dataclasses.replace(
        _FLOW,
        rate="10Gbit",
        rtt="180ms",
        mtu="9000",
        buffer="112.5MB",
        window="223.8MB",
        region="30s",
    ),
    dataclasses.replace(_FLOW, rate="10Gbit", rtt="20ms", region="10s"),
    dataclasses.replace(_FLOW, rate="10Gbit", rtt="1s", mtu="9000", region="30s"),
    dataclasses.replace(_FLOW, rate="1Gbit", rtt="1s", region="30s"),
    dataclasses.replace(_FLOWS, rate="1Gbit", rtt="100ms", region="15s"),
    dataclasses.replace(_FLOWS, rate="10Gbit", rtt="20ms", mtu="9000", region="10s"),
)
#: Larger requests, of which this machine, or any machine, refuses some.
LARGER = (
    dataclasses.replace(_FLOWS, rate="10Gbit", rtt="1s", region="10s"),
    dataclasses.replace(_FLOWS, schedule="joining", rate="1Gbit", rtt="100ms", region="1h"),
    dataclasses.replace(_FLOWS, stack="1000xreno", rate="1Gbit", rtt="100ms", region="10s"),
    dataclasses.replace(_FLOW, rate="10Gbit", rtt="5s", mtu="9000", region="60s"),
    dataclasses.replace(_FLOW, rate="10Gbit", rtt="20s", region="60s"),
    dataclasses.replace(_FLOW, rate="100Gbit", rtt="20ms", region="10s"),
    dataclasses.replace(_FLOW, rate="1Gbit", rtt="1s", window="1GiB", region="30s"),
)


class _BootedError(Exception):
    """The guest booted, so nothing was refused."""


@dataclass(frozen=True)
class ScaleRow:
    """One run at scale: its request and its cost.

    ``speed``: virtual seconds in a real second, without the start. ``packets_per_cpu_s``: full
    segments delivered over all CPU time. ``estimate_bytes``: the most memory that the guest may
    need (``farpath.planning.memory``), to compare with its largest resident set.
    """

    asked: str
    speed: float
    start_s: float
    cpu_s: float
    packets_per_cpu_s: float
    peak_memory_bytes: int
    estimate_bytes: int

    @property
    def estimate_over_measured(self) -> float | None:
        """How many times the needed memory was reserved; below 1 a guest would have died."""
        return ratio(self.estimate_bytes, self.peak_memory_bytes)

    def as_dict(self) -> dict[str, Any]:
        """Return plain texts and numbers."""
        return {**dataclasses.asdict(self), "estimate_over_measured": self.estimate_over_measured}


def make_variables(request: RunRequest) -> str:
    """Format a request as ``make experiment`` takes it.

    >>> make_variables(RunRequest(stack="reno", rtt="1s"))
    'RTT=1s STACK=reno'
    """
    return " ".join(f"{option.variable}={value}" for option, value in request.values())


def scale_row(asked: str, plan: Plan, run: RunMeasurement) -> ScaleRow:
    """Return a run's cost; all packets of its flows have the path's size."""
    payload_bytes, _ = segment_bytes(plan.path.mtu_bytes, plan.ip_version)
    return ScaleRow(
        asked=asked,
        speed=plan.schedule.duration_s / (run.wall_s - run.idle_s),
        start_s=run.start_s,
        cpu_s=run.cost.cpu_s,
        packets_per_cpu_s=run.cost.delivered_bytes / payload_bytes / run.cost.cpu_s,
        peak_memory_bytes=run.peak_memory_bytes,
        estimate_bytes=run_bytes(plan),
    )


def _run_at_scale(request: RunRequest, folder: FilePath) -> ScaleRow:
    plan = request.plan()
    return scale_row(
        make_variables(request), plan, recorded_run(plan, make_variables(request), folder)
    )


def refusal(request: RunRequest) -> str | None:
    """Return why a request is refused before anything boots; None if its guest starts.

    The guest is stopped once it starts.
    """

    def stop(_event: dict[str, Any]) -> None:
        raise _BootedError

    with tempfile.TemporaryDirectory(prefix="farpath-bench-") as name:
        log = FilePath(name) / "console.log"
        try:
            plan = request.plan()
            with uml.play(plan, find_images(), log, stop):
                return None
        except _BootedError:
            return None
        except FarpathError as error:
            if log.exists():
                raise
            return error.message


def measure_scale() -> dict[str, Any]:
    """Measure every run, and return why each larger request is refused, as plain data."""
    with tempfile.TemporaryDirectory(prefix="farpath-bench-") as name:
        rows = [_run_at_scale(request, FilePath(name)).as_dict() for request in RUNS]
    return {
        "runs": rows,
        "larger": {make_variables(request): refusal(request) for request in LARGER},
    }
