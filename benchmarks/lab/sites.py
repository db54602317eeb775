"""The benchmark of sites: a guest for each against one guest for all, side by side."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path as FilePath

from benchmarks.lab.figure import Figure, Goal, ratio, segments
from benchmarks.lab.lab_runs import RunMeasurement, lossless_path, recorded_run
from farpath.lab.machine import available_cores, limited_cores
from farpath.planning.planner import make_plan
from farpath.planning.request import RunRequest
from farpath.spec.plan import Plan
from farpath.spec.schedule import simultaneous
from topologies import lay_out

STACK, SEED = "htcp", 1
QUICK_S, FULL_S = 30.0, 120.0
#: Rounds in each of which all ways are measured; the fastest of each counts.
ROUNDS = 2
SPEED_GOAL, CPU_GOAL, FAST_PATH_GOAL = 1.8, 1.0, 0.9
BACKGROUND_BPS, BACKGROUND_GOAL_US = 400_000_000, 1.0
BACKGROUND_QUICK_S, BACKGROUND_FULL_S = 10.0, 60.0
#: Bottlenecks of the parking lot of the projection.
BOTTLENECKS = 8


def _cpu_us_per_packet(run: RunMeasurement) -> float:
    return run.cost.cpu_s / segments(run.cost.delivered_bytes) * 1e6


def _side_by_side(duration_s: float, folder: FilePath) -> list[RunMeasurement]:
    """Measure one guest, a guest for each site, and these on one core; the fastest run of each."""
    plan = make_plan(lossless_path(), simultaneous([STACK], duration_s), SEED, "virtual")
    ways: dict[str, tuple[Plan, Callable[[], AbstractContextManager[None]]]] = {
        "one guest": (plan.in_one_guest(), nullcontext),
        "a guest for each site": (plan, nullcontext),
        "a guest for each site, one core": (plan, partial(limited_cores, 1)),
    }
    measured: dict[str, list[RunMeasurement]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, (measured_plan, on_cores) in ways.items():
            with on_cores():
                measured[name].append(recorded_run(measured_plan, name, folder))
    return [min(runs, key=lambda run: run.schedule_s) for runs in measured.values()]


def _comparison(quick: bool, folder: FilePath) -> dict[str, Figure]:
    duration_s = QUICK_S if quick else FULL_S
    one, all_cores, one_core = _side_by_side(duration_s, folder)
    how = (
        f"one H-TCP flow of {duration_s:g} s, path cern without loss, without the start; the "
        f"fastest of {ROUNDS} runs by turns, {available_cores()} cores"
    )
    return {
        "sites_speed": Figure(
            "a guest for each site, against one guest",
            ratio(one.schedule_s, all_cores.schedule_s),
            "x",
            Goal(SPEED_GOAL, False),
            how,
        ),
        "sites_speed_cores": Figure(
            "a guest for each site, all cores against one core",
            ratio(one_core.schedule_s, all_cores.schedule_s),
            "x",
            Goal(SPEED_GOAL, False),
            how,
        ),
        "sites_speed_one_core": Figure(
            "a guest for each site on one core, against one guest",
            ratio(one.schedule_s, one_core.schedule_s),
            "x",
            None,
            how,
        ),
        "sites_cpu": Figure(
            "CPU a data packet, sites to one guest",
            ratio(_cpu_us_per_packet(all_cores), _cpu_us_per_packet(one)),
            "x",
            Goal(CPU_GOAL, True),
            f"{how}; start and end counted",
        ),
    }


def _fast_path(folder: FilePath) -> Figure:
    plan = RunRequest(
        stack="reno", schedule="together", rate="10Gbit", rtt="20ms", region="10s"
    ).plan()
    run = recorded_run(plan, "10 Gbit/s, 20 ms", folder)
    return Figure(
        "10 Gbit/s, 20 ms, against real time",
        plan.schedule.duration_s / run.schedule_s,
        "x",
        Goal(FAST_PATH_GOAL, False),
        "one Reno flow of 10 virtual s, MTU 1500, a guest for each site, without the start",
    )


def _background(quick: bool, folder: FilePath) -> Figure:
    """What a packet of background traffic costs, from its source to the receiver that drops it."""
    duration_s = BACKGROUND_QUICK_S if quick else BACKGROUND_FULL_S
    request = RunRequest(
        stack="reno",
        schedule="together",
        rtt="50ms",
        rate="500Mbit",
        window="64KiB",
        region=f"{duration_s:g}s",
    )
    quiet = recorded_run(request.plan(), "without background traffic", folder)
    plan = request.changed(background=f"cbr:{BACKGROUND_BPS}bit").plan()
    busy = recorded_run(plan, "with background traffic", folder)
    packets = BACKGROUND_BPS * duration_s / 8 / plan.path.frame_bytes
    return Figure(
        "CPU a packet of background traffic",
        (busy.cost.cpu_s - quiet.cost.cpu_s) / packets * 1e6,
        "us",
        Goal(BACKGROUND_GOAL_US, True),
        f"{BACKGROUND_BPS / 1e6:g} Mbit/s for {duration_s:g} virtual s, against the same run "
        "without; source, switches, bottleneck and the receiver that drops it",
    )


def _projection(folder: FilePath) -> Figure:
    """What a parking lot of many sites would gain on as many cores."""
    plan = RunRequest(
        stack="reno",
        schedule="together",
        topology=f"parking-lot:{BOTTLENECKS}",
        rtt="100ms",
        rate="100Mbit",
        buffer="1MB",
        region="30s",
    ).plan()
    sites = lay_out(plan).sites
    one = recorded_run(plan.in_one_guest(), f"{BOTTLENECKS} bottlenecks, one guest", folder)
    many = recorded_run(plan, f"{BOTTLENECKS} bottlenecks, {sites} sites", folder)
    return Figure(
        f"{sites} sites on {sites} cores, projected",
        ratio(one.schedule_s, many.critical_cpu_s),
        "x",
        None,
        f"a parking lot of {BOTTLENECKS} bottlenecks, 100 Mbit/s, 100 ms, Reno, 30 virtual s: "
        "real time of one guest, by the longest chain of CPU time of kernels that wait for others; "
        "not measured on so many cores",
        estimated=True,
    )


def site_figures(quick: bool) -> dict[str, Figure]:
    """Measure what a guest for each site gains on all cores and on one, and project for more."""
    with tempfile.TemporaryDirectory(prefix="farpath-bench-") as name:
        folder = FilePath(name)
        figures = {**_comparison(quick, folder), "background": _background(quick, folder)}
        if quick:
            return figures
        return {**figures, "fast_path": _fast_path(folder), "projection": _projection(folder)}
