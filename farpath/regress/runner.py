"""The runner of a suite: several trials at once, and their results."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from farpath.base.errors import FarpathError, LabFailedError
from farpath.lab.artifacts.images import Images
from farpath.lab.progress import time_left_s, time_left_text
from farpath.regress.metrics import metrics_of
from farpath.regress.suite import Trial

#: Real seconds between two lines of progress where there is no terminal.
PROGRESS_INTERVAL_S = 10.0
#: An option of prctl(2): the signal that a process gets when its parent dies (linux/prctl.h).
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Kernel:
    """A kernel to run on, and its name for people."""

    name: str
    images: Images


@dataclass(frozen=True)
class TrialJob:
    """A trial to be run with a seed on a kernel."""

    trial: Trial
    kernel: Kernel
    seed: int = 1


@dataclass(frozen=True)
class TrialResult:
    """The result of a job: its record's directory, or why there is none."""

    job: TrialJob
    fingerprint: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    record: FilePath | None = None
    failure: FarpathError | None = None
    wall_s: float = 0.0


def run_trial(job: TrialJob, out: FilePath) -> TrialResult:
    """Run one job, or find its record in ``out``."""
    from farpath.lab.run import run
    from farpath.record.record import load_record

    start_s = time.monotonic()
    try:
        plan = job.trial.plan(job.seed)
        outcome = run(plan, out, False, lambda _event: None, job.kernel.images)
        record = load_record(outcome.directory)
        metrics = metrics_of(record, job.trial.case.extra_metrics)
    except FarpathError as error:
        return TrialResult(job, failure=error, wall_s=time.monotonic() - start_s)
    return TrialResult(
        job, record.fingerprint, metrics, record.directory, wall_s=time.monotonic() - start_s
    )


def run_trials(
    jobs: Sequence[TrialJob], out: FilePath, at_once: int, label: str = "runs"
) -> list[TrialResult]:
    """Run all jobs, several at once, and print progress; results are in the order of ``jobs``.

    ``label`` names the jobs for people. If this process is interrupted or killed, runs that are
    going end at once and leave nothing incomplete.
    """
    results: dict[int, TrialResult] = {}
    with _workers(at_once) as workers, _progress_printer(len(jobs), label) as print_progress:
        pending = {
            workers.submit(_run_in_worker, job, out): index for index, job in enumerate(jobs)
        }
        for future in as_completed(pending):
            results[pending[future]] = future.result()
            print_progress(results[pending[future]])
    return [results[index] for index in range(len(jobs))]


@contextmanager
def _workers(at_once: int) -> Iterator[ProcessPoolExecutor]:
    """Start worker processes; each run waits for its guest, and reserves a core by a socket."""
    context = multiprocessing.get_context("spawn")
    workers = ProcessPoolExecutor(
        at_once, mp_context=context, initializer=_begin_worker, initargs=(os.getpid(),)
    )
    try:
        yield workers
    except BrokenProcessPool as error:
        raise LabFailedError(
            "a run's process was killed, perhaps for want of memory: take fewer JOBS"
        ) from error
    except BaseException:
        # The runs that are going would continue to their end
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    finally:
        workers.shutdown(cancel_futures=True)


def _begin_worker(parent: int) -> None:
    """Ignore SIGINT (the parent handles it) and die with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)


def _run_in_worker(job: TrialJob, out: FilePath) -> TrialResult:
    """Run a job in a worker; SIGTERM ends its run as an interrupted command ends."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return run_trial(job, out)
    except KeyboardInterrupt:
        # A worker that only raised the exception would take the next job
        os._exit(1)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _progress_printer(count: int, label: str) -> Iterator[Callable[[TrialResult], None]]:
    """Print a line that is renewed on a terminal, else one line every ten seconds."""
    terminal = sys.stderr.isatty()
    start_s = last_s = time.monotonic()
    done = 0

    def print_progress(result: TrialResult) -> None:
        nonlocal done, last_s
        done += 1
        now_s = time.monotonic()
        if result.failure is not None:
            print(
                f"regress: {result.job.trial.name} failed: {result.failure.message}",
                file=sys.stderr,
            )
        if not terminal and now_s - last_s < PROGRESS_INTERVAL_S and done < count:
            return
        last_s = now_s
        left = time_left_text(time_left_s(done, count, now_s - start_s))
        text = f"regress: {done} of {count} {label}, {left}"
        end = "" if terminal and done < count else "\n"
        print(f"\r{text}\033[K" if terminal else text, end=end, file=sys.stderr, flush=True)

    yield print_progress
