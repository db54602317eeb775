"""What scale costs: the fastest, longest and fullest paths, and what is refused before boot."""

from __future__ import annotations

import dataclasses
import tempfile
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import FarpathError
from farpath.bench.figure import ratio
from farpath.bench.lab_runs import Measured, recorded
from farpath.lab import uml
from farpath.lab.artifacts.images import find_images
from farpath.planning.request import RunRequest
from farpath.spec.plan import Plan
from farpath.spec.window import segment_bytes

#: All flows from the beginning, Reno: the stack whose window says nothing of a path's size.
_FLOW = RunRequest(stack="reno", schedule="together")
_FLOWS = dataclasses.replace(_FLOW, stack="100xreno")
#: Requests that a run is made of, each of 10 to 30 virtual seconds. The first is the land
#: speed record's: a window of the bandwidth-delay product (experiments/window-cap).
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
#: Requests beyond those: what of them this machine, or any, refuses.
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
    """The guest runs: nothing was refused."""


@dataclass(frozen=True)
class ScaleRow:
    """One run at scale: what was asked and what it cost.

    ``speed``: virtual seconds in a real one, the start left out. ``packets_per_cpu_s``: full
    segments delivered over all its CPU time. ``estimate_bytes``: what the guest may need at
    most (:mod:`farpath.planning.memory`), beside the largest resident set that it had.
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
        """How many times what was needed was reserved; below 1 a guest would have died."""
        return ratio(self.estimate_bytes, self.peak_memory_bytes)

    def as_dict(self) -> dict[str, Any]:
        """Plain texts and numbers."""
        return {**dataclasses.asdict(self), "estimate_over_measured": self.estimate_over_measured}


def words(asked: RunRequest) -> str:
    """A request as ``make experiment`` takes it.

    >>> words(RunRequest(stack="reno", rtt="1s"))
    'RTT=1s STACK=reno'
    """
    pairs = (option.removeprefix("--").partition("=") for option in asked.options())
    return " ".join(f"{name.replace('-', '_').upper()}={value}" for name, _, value in pairs)


def row(asked: str, plan: Plan, run: Measured) -> ScaleRow:
    """What a run cost; its flows' packets are all of the path's size."""
    payload_bytes, _ = segment_bytes(plan.path.mtu_bytes, plan.ip_version)
    return ScaleRow(
        asked=asked,
        speed=plan.schedule.duration_s / (run.wall_s - run.idle_s),
        start_s=run.start_s,
        cpu_s=run.cost.cpu_s,
        packets_per_cpu_s=run.cost.delivered_bytes / payload_bytes / run.cost.cpu_s,
        peak_memory_bytes=run.peak_memory_bytes,
        estimate_bytes=plan.settings.memory_bytes,
    )


def _measured(asked: RunRequest, folder: FilePath) -> ScaleRow:
    plan = asked.plan()
    return row(words(asked), plan, recorded(plan, words(asked), folder))


def refusal(asked: RunRequest) -> str | None:
    """Why a request is refused before anything boots; None if its guest starts, which ends it."""

    def stop(_event: dict[str, Any]) -> None:
        raise _BootedError

    with tempfile.TemporaryDirectory(prefix="farpath-bench-") as name:
        log = FilePath(name) / "console.log"
        try:
            plan = asked.plan()
            with uml.play(plan, find_images(), log, stop):
                return None
        except _BootedError:
            return None
        except FarpathError as error:
            if log.exists():
                raise
            return error.message


def measure_scale() -> dict[str, Any]:
    """Every row, and of each larger request why it is refused, or None, as plain data."""
    with tempfile.TemporaryDirectory(prefix="farpath-bench-") as name:
        rows = [_measured(asked, FilePath(name)).as_dict() for asked in RUNS]
    return {"runs": rows, "larger": {words(asked): refusal(asked) for asked in LARGER}}
