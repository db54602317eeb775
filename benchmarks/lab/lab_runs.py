"""Figures of the virtual lab itself: cost, memory, start and accuracy."""

from __future__ import annotations

import dataclasses
import gzip
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from benchmarks.lab.figure import (
    Cost,
    Figure,
    Goal,
    extrapolated,
    packets_per_s,
    rate_error_percent,
)
from farpath.lab import uml
from farpath.lab.artifacts.images import find_images
from farpath.lab.machine import available_cores
from farpath.lab.progress import RunProgress
from farpath.lab.run import run as run_plan
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.record import record
from farpath.record.idle_path import ping_rtt_ms
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.protocol import RAW_DIR
from farpath.spec.schedule import Flow, Schedule, seven_regions
from farpath.tools import tc

if TYPE_CHECKING:
    import pandas as pd

PATH_NAME = "cern"
STACK = "htcp"
UDT = "udt"
SEED = 1
#: The region of the paper, and the one that a quick run extrapolates from, in s.
FULL_REGION_S = 120.0
QUICK_REGION_S = 5.0
#: The region of the UDT run, in s: UDT's flows need about ten seconds each to find their rates.
UDT_REGION_S = 20.0
#: Two flows of these lengths differ by a steady flow of 30 s: the window is open after 3 s of the
#: path's 164 ms.
SHORT_FLOW_S = 3.0
LONG_FLOW_S = 33.0

WALL_GOAL_S = 80.0
CPU_GOAL_S = 90.0
PACKETS_GOAL = 450_000.0
MEMORY_GOAL_BYTES = 1e9
START_GOAL_S = 1.0
UDT_SPEED_GOAL = 2.0
RTT_GOAL_US = 1.0
RATE_GOAL_PERCENT = 0.1


def lossless_path() -> Path:
    """Return the cern path without its random loss, so that nothing disturbs one flow's window."""
    return dataclasses.replace(path_by_name(PATH_NAME), loss=0.0)


class EventTimes:
    """The times of the guest's events, in real seconds since this object was created."""

    def __init__(self, progress: RunProgress) -> None:
        self._started_s = time.monotonic()
        self._progress = progress
        self.first_s: dict[str, float] = {}

    def watch(self, event: dict[str, Any]) -> None:
        """Store the time of an event's first occurrence and show it."""
        self.first_s.setdefault(event["event"], time.monotonic() - self._started_s)
        self._progress.watch(event)


@dataclass(frozen=True)
class RunMeasurement:
    """The results of one run that figures are calculated from."""

    cost: Cost
    wall_s: float
    start_s: float
    idle_s: float
    peak_memory_bytes: int
    queue: list[tc.QueueSample]
    idle_rtt_ms: float | None = None
    ping_rtt_ms: float = 0.0
    critical_cpu_s: float | None = None

    @property
    def schedule_s(self) -> float:
        """Real time of the schedule and its end, without the start."""
        return self.wall_s - self.idle_s


def delivered_bytes(flows: pd.DataFrame, plan: Plan) -> float:
    """Return the payload of all flows that a plan names."""
    rows = flows[flows["flow"].isin([flow.name for flow in plan.schedule.flows])]
    return float((rows["throughput_bps"] * rows["interval_s"]).sum()) / 8


def one_flow_run(duration_s: float, folder: FilePath) -> RunMeasurement:
    """Run one flow over the lossless path for that many virtual seconds."""
    flow = Flow("flow1", "sender", "receiver", STACK, 0.0, duration_s, 5201)
    schedule = Schedule("one-flow", (flow,), duration_s, duration_s)
    plan = make_plan(lossless_path(), schedule, SEED, "virtual")
    images, log = find_images(), folder / "console.log"
    with RunProgress(f"one flow, {duration_s:g} s", duration_s) as progress:
        event_times = EventTimes(progress)
        with uml.play(plan, images, log, event_times.watch) as raw:
            samples = record.samples_from_raw(raw.raw, plan)
            return RunMeasurement(
                cost=Cost(delivered_bytes(samples.flows, plan), raw.cpu_s),
                wall_s=raw.wall_s,
                start_s=event_times.first_s["hosts-ready"],
                idle_s=event_times.first_s["progress"],
                peak_memory_bytes=raw.peak_memory_bytes,
                queue=tc.parse_samples((raw.raw / "queue.txt").read_text()),
            )


def recorded_run(plan: Plan, label: str, folder: FilePath) -> RunMeasurement:
    """Run a plan with all its checks, and write its record."""
    with RunProgress(label, plan.schedule.duration_s) as progress:
        event_times = EventTimes(progress)
        outcome = run_plan(plan, folder, force=True, watch=event_times.watch)
    run_record = record.load_record(outcome.directory)
    cost = run_record.data["provenance"]["cost"]
    compressed = (outcome.directory / RAW_DIR / "queue.txt.gz").read_bytes()
    return RunMeasurement(
        cost=Cost(delivered_bytes(run_record.samples.flows, plan), cost["cpu_s"]),
        wall_s=cost["wall_s"],
        start_s=event_times.first_s["hosts-ready"],
        idle_s=event_times.first_s["progress"],
        peak_memory_bytes=cost["peak_memory_bytes"],
        queue=tc.parse_samples(gzip.decompress(compressed).decode()),
        idle_rtt_ms=run_record.data["readback"]["idle_rtt_ms"],
        ping_rtt_ms=ping_rtt_ms(plan),
        critical_cpu_s=cost.get("critical_cpu_s"),
    )


def seven_region_run(region_s: float, folder: FilePath, stack: str = STACK) -> RunMeasurement:
    """Run the seven-region test on the cern path."""
    plan = make_plan(path_by_name(PATH_NAME), seven_regions(stack, region_s), SEED, "virtual")
    return recorded_run(plan, f"{stack}, seven regions of {region_s:g} s", folder)


def full_run_figures(run: RunMeasurement, region_s: float) -> dict[str, Figure]:
    """Return wall and CPU time of the 16-minute test, measured or extrapolated."""
    full = seven_regions(STACK, FULL_REGION_S)
    wall_s, cpu_s = run.wall_s, run.cost.cpu_s
    how = "one run of 16 virtual minutes, region 120 s, H-TCP on path cern"
    estimated = region_s != FULL_REGION_S
    if estimated:
        wanted_bytes = path_by_name(PATH_NAME).rate_bps / 8 * full.duration_s
        wall_s = extrapolated(run.wall_s, run.idle_s, run.queue[-1].bytes, wanted_bytes)
        cpu_s = run.cost.cpu_s * wall_s / run.wall_s
        how = (
            f"extrapolated from regions of {region_s:g} s ({run.wall_s:.1f} s wall, "
            f"{run.cost.cpu_s:.1f} s CPU) by the bytes of a bottleneck that is busy for all "
            f"{full.duration_s:g} s"
        )
    title = "16-minute seven-region run"
    return {
        "full_run_wall": Figure(
            f"{title}, wall", wall_s, "s", Goal(WALL_GOAL_S, True), how, estimated
        ),
        "full_run_cpu": Figure(
            f"{title}, CPU",
            cpu_s,
            "s",
            Goal(CPU_GOAL_S, True),
            f"{how}; CPU time of the guest's processes: what a machine that does nothing "
            "else needs in wall time",
            estimated,
        ),
    }


def run_figures(run: RunMeasurement) -> dict[str, Figure]:
    """Return memory and base RTT error of the seven-region run."""
    assert run.idle_rtt_ms is not None
    error_us = round(abs(run.idle_rtt_ms - run.ping_rtt_ms) * 1e3, 3)
    return {
        "memory": Figure(
            "memory of one run",
            float(run.peak_memory_bytes),
            "bytes",
            Goal(MEMORY_GOAL_BYTES, True),
            "largest resident set of the guest's kernel, its memory included (wait4), in "
            "the seven-region run",
        ),
        "base_rtt_error": Figure(
            "base RTT error",
            error_us,
            "us",
            Goal(RTT_GOAL_US, True),
            f"median of the idle path's pings, {run.idle_rtt_ms:.3f} ms, against "
            f"{run.ping_rtt_ms:.4f} ms, the path's and those in which the link sends a ping",
        ),
    }


def flow_figures(short: RunMeasurement, long: RunMeasurement) -> dict[str, Figure]:
    """Return speed, start and bottleneck rate error, from two flows of different length."""
    rate_bps = lossless_path().rate_bps
    delivered = (short.cost.delivered_bytes, long.cost.delivered_bytes)
    return {
        "lab_packets_per_cpu_s": Figure(
            "data packets per CPU second",
            packets_per_s(delivered, (short.cost.cpu_s, long.cost.cpu_s)),
            "packets/s",
            Goal(PACKETS_GOAL, False),
            f"one H-TCP flow, path cern without loss: what a flow of {LONG_FLOW_S:g} s "
            f"delivers and costs more than one of {SHORT_FLOW_S:g} s, end to end through "
            "both hosts and switches, in segments of 1448 bytes",
        ),
        "lab_packets_per_s": Figure(
            "data packets per real second",
            packets_per_s(delivered, (short.schedule_s, long.schedule_s)),
            "packets/s",
            None,
            f"the same two flows, a guest for each site, {available_cores()} cores",
        ),
        "start": Figure(
            "boot to first packet",
            min(short.start_s, long.start_s),
            "s",
            Goal(START_GOAL_S, True),
            "real time from starting a run until the guest's hosts can send (hosts-ready); "
            "the faster of two",
        ),
        "bottleneck_rate_error": Figure(
            "bottleneck rate error",
            rate_error_percent(long.queue, rate_bps),
            "%",
            Goal(RATE_GOAL_PERCENT, True),
            "bytes that the bottleneck sent, by its own count, over the longest time in "
            "which every sample found packets waiting",
        ),
    }


def udt_figures(run: RunMeasurement, region_s: float) -> dict[str, Figure]:
    """Return the speed of UDT's seven-region test relative to real time, without its start."""
    duration_s = seven_regions(UDT, region_s).duration_s
    return {
        "udt_speed": Figure(
            "UDT run against real time",
            duration_s / (run.wall_s - run.idle_s),
            "x",
            Goal(UDT_SPEED_GOAL, False),
            f"virtual over real seconds of the schedule, regions of {region_s:g} s on path "
            "cern, hosts of 2004, alone on its core",
        )
    }


def lab_figures(quick: bool) -> dict[str, Figure]:
    """Measure all figures that need only the lab."""
    region_s = QUICK_REGION_S if quick else FULL_REGION_S
    with tempfile.TemporaryDirectory(prefix="farpath-bench-") as name:
        folder = FilePath(name)
        run = seven_region_run(region_s, folder)
        udt_region_s = QUICK_REGION_S if quick else UDT_REGION_S
        udt = seven_region_run(udt_region_s, folder, UDT)
        short, long = (one_flow_run(length_s, folder) for length_s in (SHORT_FLOW_S, LONG_FLOW_S))
    return (
        full_run_figures(run, region_s)
        | flow_figures(short, long)
        | run_figures(run)
        | udt_figures(udt, udt_region_s)
    )
