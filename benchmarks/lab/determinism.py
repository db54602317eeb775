"""The determinism benchmark: how many equal runs, on a busy machine or not, give equal samples.

``python -m benchmarks.lab.determinism examples/compose/etcd/compose.yml 200`` runs the services of
a compose file 200 times, one after the other, and prints how many runs have which fingerprint. A
directory as third argument keeps the first record of each. The status is 1 if there are several.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

from benchmarks.lab.figure import Figure, Goal
from farpath.lab import uml
from farpath.lab.artifacts.images import find_images
from farpath.lab.artifacts.user_topologies import user_network
from farpath.lab.exec.service_roots import found_services
from farpath.lab.exec.service_run import run_services
from farpath.planning.deployment_files import read_deployment
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.record import record
from farpath.runs.service_runs import up_run
from farpath.spec.plan import Plan
from farpath.spec.schedule import seven_regions

REGION_S = 2.0
QUICK_RUNS = 4
FULL_RUNS = 100
AT_ONCE = 2
#: Time between two samples of queues, as ``farpath up`` has it.
SAMPLE = "100ms"

#: Makes one run in a directory of its own, tells its events, and returns its fingerprint.
Repeated = Callable[[FilePath, Callable[[dict[str, Any]], None]], str]


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


def _collect(runs: list[Future[str]]) -> list[str]:
    fingerprints = []
    for number, run in enumerate(runs, start=1):
        fingerprints.append(run.result())
        sys.stderr.write(f"equal runs: {number} of {len(runs)}: {fingerprints[-1][:12]}\n")
    return fingerprints


def fingerprints_of(repeated: Repeated, count: int, at_once: int = 1) -> list[str]:
    """Return the fingerprints of equal runs, that many at a time.

    With several, one may use all cores for its guests, and the next a single one. After an error
    the runs under way end at their guests' next events.
    """
    every = os.sched_getaffinity(0)
    allowed = (every, {min(every)}) if at_once > 1 else (every,)
    cancelled = threading.Event()

    def watch(_event: dict[str, Any]) -> None:
        if cancelled.is_set():
            raise _CancelledError

    def run(cores: set[int]) -> str:
        # Of this thread of the pool, and the guests it starts
        os.sched_setaffinity(0, cores)
        with tempfile.TemporaryDirectory(prefix="farpath-bench-") as folder:
            return repeated(FilePath(folder), watch)

    with ThreadPoolExecutor(at_once) as pool:
        try:
            return _collect(
                [pool.submit(run, allowed[number % len(allowed)]) for number in range(count)]
            )
        except BaseException:
            cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def repeated_plan(plan: Plan) -> Repeated:
    """Return what makes a run of flows, without its record."""
    images = find_images()

    def run(folder: FilePath, watch: Callable[[dict[str, Any]], None]) -> str:
        with uml.play(plan, images, folder / "console.log", watch) as raw:
            return record.fingerprint(record.samples_from_raw(raw.raw, plan))

    return run


def repeated_services(file: FilePath, kept: FilePath | None) -> Repeated:
    """Return what runs the services of a file.

    ``kept``: directory for the first record of each fingerprint, named by it; None keeps none.
    """
    deployment = read_deployment(file, None, (), no_faults=False, network_of=user_network)
    services = up_run(deployment, found_services(deployment), sample=SAMPLE)

    def run(folder: FilePath, watch: Callable[[dict[str, Any]], None]) -> str:
        outcome = run_services(services, folder, {}, watch)
        if kept and not (kept / outcome.fingerprint).exists():
            shutil.copytree(outcome.directory, kept / outcome.fingerprint)
        return outcome.fingerprint

    return run


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
    with _busy_loop():
        equal = equal_to_first(fingerprints_of(repeated_plan(plan), count, AT_ONCE))
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


def main() -> int:
    """Repeat the services of the file that the command line names."""
    file, count, *kept = sys.argv[1:]
    repeated = repeated_services(FilePath(file), FilePath(*kept) if kept else None)
    found = Counter(fingerprints_of(repeated, int(count)))
    for fingerprint, runs in found.most_common():
        sys.stdout.write(f"{runs:6,}  {fingerprint}\n")
    return int(len(found) > 1)


if __name__ == "__main__":
    sys.exit(main())
