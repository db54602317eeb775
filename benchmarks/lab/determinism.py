"""The determinism benchmark: how many equal runs on a busy machine give equal samples."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

from benchmarks.lab.figure import Figure, Goal
from farpath.lab import uml
from farpath.lab.artifacts.images import Images, find_images
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.record import record
from farpath.spec.plan import Plan
from farpath.spec.schedule import seven_regions

REGION_S = 2.0
QUICK_RUNS = 4
FULL_RUNS = 100
AT_ONCE = 2


class _CancelledError(Exception):
    """A run was cancelled before its end."""


@contextmanager
def _busy_loop() -> Iterator[None]:
    """Run a process that keeps a core busy."""
    loop = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", sys.executable, "-c", "while True: pass"],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        loop.kill()
        loop.wait()


def _fingerprint(
    plan: Plan, images: Images, log: FilePath, cores: set[int], cancelled: threading.Event
) -> str:
    """Return a run's fingerprint; once cancelled, the run ends at the guest's next event.

    ``cores``: those that this thread and the guests it starts may use.
    """
    os.sched_setaffinity(0, cores)

    def watch(_event: dict[str, Any]) -> None:
        if cancelled.is_set():
            raise _CancelledError

    with uml.play(plan, images, log, watch) as raw:
        return record.fingerprint(record.samples_from_raw(raw.raw, plan))


def _collect(runs: list[Future[str]]) -> list[str]:
    fingerprints = []
    for number, run in enumerate(runs, start=1):
        fingerprints.append(run.result())
        sys.stderr.write(f"equal runs: {number} of {len(runs)}: {fingerprints[-1][:12]}\n")
    return fingerprints


def _fingerprints(plan: Plan, count: int) -> list[str]:
    """Return the fingerprints of equal runs, two at a time next to a busy loop.

    Of each two, one may use all cores for its sites and the other a single one.
    """
    images = find_images()
    every = os.sched_getaffinity(0)
    allowed = (every, {min(every)})
    cancelled = threading.Event()
    with (
        tempfile.TemporaryDirectory(prefix="farpath-bench-") as folder,
        _busy_loop(),
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        try:
            runs = []
            for number in range(count):
                log, cores = FilePath(folder) / f"{number}.log", allowed[number % len(allowed)]
                runs.append(pool.submit(_fingerprint, plan, images, log, cores, cancelled))
            return _collect(runs)
        except BaseException:
            cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def equal_to_first(fingerprints: list[str]) -> int:
    """Count the fingerprints that equal the first, itself included.

    >>> equal_to_first(["a", "b", "a"])
    2
    """
    return fingerprints.count(fingerprints[0]) if fingerprints else 0


def determinism_figures(quick: bool) -> dict[str, Figure]:
    """Measure how many of several equal runs have the first one's fingerprint."""
    count = QUICK_RUNS if quick else FULL_RUNS
    schedule = seven_regions("htcp", REGION_S)
    plan = make_plan(path_by_name("cern"), schedule, 1, "virtual")
    equal = equal_to_first(_fingerprints(plan, count))
    return {
        "determinism": Figure(
            "equal inputs, equal fingerprint",
            float(equal),
            f"of {count} runs",
            Goal(float(count), False),
            f"the seven-region test with regions of {REGION_S:g} s, {AT_ONCE} runs at once "
            "next to a busy loop, one with all cores for its sites, the other with one",
        )
    }
