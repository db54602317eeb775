"""Conduct: a suite's runs, several at once, and what each gave."""

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
from farpath.regress.metrics import metrics_of
from farpath.regress.suite import Trial

#: Real seconds between two lines of progress where there is no terminal.
TOLD_EVERY_S = 10.0
#: Of prctl(2): the signal that a process gets when its parent dies (linux/prctl.h).
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Kernel:
    """One kernel to run on, and its name for people."""

    name: str
    images: Images


@dataclass(frozen=True)
class TrialJob:
    """A trial to be run with a seed on a kernel."""

    trial: Trial
    side: Kernel
    seed: int = 1


@dataclass(frozen=True)
class TrialResult:
    """What a job gave: its record's place, or why there is none."""

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

    begun = time.monotonic()
    try:
        plan = job.trial.plan(job.seed)
        outcome = run(plan, out, False, lambda _event: None, job.side.images)
        record = load_record(outcome.directory)
        metrics = metrics_of(record, job.trial.case.watch)
    except FarpathError as error:
        return TrialResult(job, failure=error, wall_s=time.monotonic() - begun)
    return TrialResult(
        job, record.fingerprint, metrics, record.directory, wall_s=time.monotonic() - begun
    )


def run_trials(
    jobs: Sequence[TrialJob], out: FilePath, at_once: int, what: str = "runs"
) -> list[TrialResult]:
    """Run all jobs, so many at once, and tell how far it is; in the order of ``jobs``.

    ``what`` they are, for people.
    Interrupted or killed, runs under way end at once and leave nothing half made.
    """
    found: dict[int, TrialResult] = {}
    with _workers(at_once) as workers, _told(len(jobs), what) as tell:
        waiting = {workers.submit(_made, job, out): place for place, job in enumerate(jobs)}
        for future in as_completed(waiting):
            found[waiting[future]] = future.result()
            tell(found[waiting[future]])
    return [found[place] for place in range(len(jobs))]


@contextmanager
def _workers(at_once: int) -> Iterator[ProcessPoolExecutor]:
    """Processes of their own: a run waits for its guest, and holds a core by a socket."""
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
        # What is under way would go on to its end
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    finally:
        workers.shutdown(cancel_futures=True)


def _begin_worker(parent: int) -> None:
    """Leave a terminal's Ctrl-C to who conducts, and end with him, however he does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)


def _made(job: TrialJob, out: FilePath) -> TrialResult:
    """A worker's part: told to end, it leaves its run as an interrupted command does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return run_trial(job, out)
    except KeyboardInterrupt:
        # A worker that only raised it would take the next job
        os._exit(1)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _told(count: int, what: str) -> Iterator[Callable[[TrialResult], None]]:
    """A line that is renewed on a terminal, else one every ten seconds."""
    terminal = sys.stderr.isatty()
    begun = last = time.monotonic()
    done = 0

    def tell(made: TrialResult) -> None:
        nonlocal done, last
        done += 1
        now = time.monotonic()
        if made.failure is not None:
            print(f"regress: {made.job.trial.name} failed: {made.failure.message}", file=sys.stderr)
        if not terminal and now - last < TOLD_EVERY_S and done < count:
            return
        last = now
        left_s = (now - begun) / done * (count - done)
        text = f"regress: {done} of {count} {what}, about {left_s:.0f} s to go"
        end = "" if terminal and done < count else "\n"
        print(f"\r{text}\033[K" if terminal else text, end=end, file=sys.stderr, flush=True)

    yield tell
