"""The benchmark of sites: a guest for each against one guest for all, side by side."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path as FilePath

from farpath.bench.figure import Figure, Goal, ratio, segments
from farpath.bench.lab_runs import RunMeasurement, lossless_path, recorded_run
from farpath.lab.machine import available_cores
from farpath.planning.planner import make_plan
from farpath.spec.plan import Plan
from farpath.spec.schedule import simultaneous

STACK, SEED = "htcp", 1
QUICK_S, FULL_S = 30.0, 120.0
#: Rounds in each of which all ways are measured; the fastest of each counts.
ROUNDS = 2
SPEED_GOAL, CPU_GOAL = 1.8, 1.0


@contextmanager
def _one_core() -> Iterator[None]:
    """Allow this process and what it starts one core only."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def site_plan(duration_s: float, one_guest: bool) -> Plan:
    """Return the plan of one flow over the lossless path, in one guest or one for each site."""
    plan = make_plan(lossless_path(), simultaneous([STACK], duration_s), SEED, "virtual")
    return dataclasses.replace(
        plan, settings=dataclasses.replace(plan.settings, one_guest=one_guest)
    )


def _schedule_s(run: RunMeasurement) -> float:
    """Return the real time of a run's schedule, without its start."""
    return run.wall_s - run.idle_s


def _cpu_us_per_packet(run: RunMeasurement) -> float:
    return run.cost.cpu_s / segments(run.cost.delivered_bytes) * 1e6


def site_figures(quick: bool) -> dict[str, Figure]:
    """Measure what a guest for each site gains, on all cores and on one."""
    duration_s = QUICK_S if quick else FULL_S
    together, apart = site_plan(duration_s, True), site_plan(duration_s, False)
    ways: dict[str, tuple[Plan, Callable[[], AbstractContextManager[None]]]] = {
        "one guest": (together, nullcontext),
        "a guest for each site": (apart, nullcontext),
        "a guest for each site, one core": (apart, _one_core),
    }
    measured: dict[str, list[RunMeasurement]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory(prefix="farpath-bench-") as folder:
        for _ in range(ROUNDS):
            for name, (plan, on_cores) in ways.items():
                with on_cores():
                    measured[name].append(recorded_run(plan, name, FilePath(folder)))
    best = {name: min(runs, key=_schedule_s) for name, runs in measured.items()}
    one, all_cores, one_core = best.values()
    how = (
        f"one H-TCP flow of {duration_s:g} s, path cern without loss, without the start; the "
        f"fastest of {ROUNDS} runs by turns, {available_cores()} cores"
    )
    return {
        "sites_speed": Figure(
            "two guests on all cores against one guest",
            ratio(_schedule_s(one), _schedule_s(all_cores)),
            "x",
            Goal(SPEED_GOAL, False),
            how,
        ),
        "sites_speed_one_core": Figure(
            "two guests on one core against one guest",
            ratio(_schedule_s(one), _schedule_s(one_core)),
            "x",
            None,
            how,
        ),
        "sites_cpu": Figure(
            "CPU for a data packet, two guests against one",
            ratio(_cpu_us_per_packet(all_cores), _cpu_us_per_packet(one)),
            "x",
            Goal(CPU_GOAL, True),
            f"{how}; start and end counted",
        ),
    }
