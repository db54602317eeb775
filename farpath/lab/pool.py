"""The pool: jobs of this machine in worker processes, as many at once as it is given cores.

A worker process makes one job after another, since Python and its libraries take a second to
load. It ends with its parent, however that ends, and a run in it ends as an interrupted command
does: its guest is killed and nothing half made is left.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType, ModuleType, TracebackType
from typing import Any, Generic, NoReturn, TypeVar

from farpath.base.errors import FarpathError, LabFailedError
from farpath.base.files import resource_errors
from farpath.lab.machine import available_cores
from farpath.lab.progress import pool_time_left_s

T = TypeVar("T")
#: Real seconds that a worker may take to end its run and to clean up.
CLEANUP_LIMIT_S = 45.0
#: Real seconds between two signals to a worker that is to end.
SIGNAL_INTERVAL_S = 0.5
#: The signals that a terminal sends to a command and to its workers.
TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGHUP)
#: The loggers whose levels workers take over; their messages are logged in the parent.
LOGGERS = ("farpath", "farpath.commands", "farpath.commands.guest")
Context = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Job(Generic[T]):
    """A call for a worker process, made of what ``pickle`` takes.

    ``call`` gets the value of the pool's context, or nothing in a pool without one. ``cost_s``:
    expected real seconds; only ratios matter, and the most expensive jobs start first.
    """

    call: Callable[..., T]
    cost_s: float = 1.0


@dataclass(frozen=True)
class JobResult(Generic[T]):
    """What a job returned, or the error it raised, and how long it took in real seconds."""

    value: T | None = None
    error: FarpathError | None = None
    wall_s: float = 0.0

    def unwrap(self) -> T:
        """Return the value; raise the error if there is one."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]  # a call may return None itself


@dataclass(frozen=True)
class PoolProgress:
    """How many jobs are done, failed, running and waiting, and the real seconds they will take.

    ``left_s`` is None until a job is done.
    """

    done: int
    failed: int
    running: int
    waiting: int
    left_s: float | None

    @property
    def ended(self) -> int:
        """How many jobs are over, done or failed."""
        return self.done + self.failed


@dataclass(frozen=True)
class JobEvent(Generic[T]):
    """The job of an index begins (``result`` is None) or has ended."""

    index: int
    result: JobResult[T] | None
    progress: PoolProgress


@dataclass
class _Schedule:
    """The jobs of one call of ``Pool.run``, by index: waiting, under way and ended.

    ``cores``: of the pool. ``waiting``: the longest first.
    """

    jobs: Sequence[Job[Any]]
    cores: int
    waiting: list[int] = field(init=False)
    began_s: dict[int, float] = field(default_factory=dict)
    results: dict[int, JobResult[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waiting = sorted(range(len(self.jobs)), key=lambda index: -self.jobs[index].cost_s)

    def next(self) -> int | None:
        """Begin the longest waiting job if a core is free; None if there is none."""
        if not self.waiting or len(self.began_s) >= self.cores:
            return None
        index = self.waiting.pop(0)
        self.began_s[index] = time.monotonic()
        return index

    def end(self, index: int, result: JobResult[Any]) -> None:
        del self.began_s[index]
        self.results[index] = result

    def progress(self) -> PoolProgress:
        now_s = time.monotonic()
        ended = [
            (self.jobs[index].cost_s, result.wall_s)
            for index, result in self.results.items()
            if result.error is None
        ]
        left_s = pool_time_left_s(
            ended=ended,
            running=[
                (self.jobs[index].cost_s, now_s - began_s)
                for index, began_s in self.began_s.items()
            ],
            waiting=[self.jobs[index].cost_s for index in self.waiting],
            cores=self.cores,
        )
        failed = sum(result.error is not None for result in self.results.values())
        return PoolProgress(
            done=len(self.results) - failed,
            failed=failed,
            running=len(self.began_s),
            waiting=len(self.waiting),
            left_s=left_s if ended else None,
        )


@dataclass(frozen=True)
class _Worker:
    process: BaseProcess
    connection: Connection


class Pool:
    """Worker processes for jobs on this machine; all of them end with the ``with`` statement.

    ``cores``: a job has one each; by default as many as this process may use. ``context``:
    entered by each worker before its first job, left after its last; its value is given to
    every job. If the statement ends by an exception, jobs under way are interrupted. If this
    process is killed, they are too.
    """

    def __init__(self, cores: int | None = None, context: Context | None = None) -> None:
        self.cores = available_cores() if cores is None else cores
        self._context = context
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, tuple[_Worker, int]] = {}

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        workers = [*self._idle, *(worker for worker, _ in self._busy.values())]
        try:
            if error is None:
                for worker in workers:
                    worker.connection.close()
                for worker in workers:
                    worker.process.join()
        finally:
            _terminate([worker.process for worker in workers])

    def run(
        self,
        jobs: Sequence[Job[T]],
        watch: Callable[[JobEvent[T]], None] = lambda _event: None,
        fatal: tuple[type[FarpathError], ...] = (),
    ) -> list[JobResult[T]]:
        """Make all jobs, the longest first; return their results in the order of ``jobs``.

        ``watch``: called in this process whenever a job begins or ends. A FarpathError fails its
        own job alone, unless its type is one of ``fatal``: then it is raised at once, and the
        pool has to be left. Any other exception of a job is a bug, and raises RuntimeError with
        its traceback.
        """
        schedule = _Schedule(jobs, self.cores)
        ended: list[tuple[int, JobResult[T]]] = []
        while True:
            # A free core gets its next job first, so that the counts of an ended job have it
            begun = list(iter(schedule.next, None))
            for index in begun:
                self._start(jobs[index], index)
            for index, result in ended:
                watch(JobEvent(index, result, schedule.progress()))
            for index in begun:
                watch(JobEvent(index, None, schedule.progress()))
            if len(schedule.results) == len(jobs):
                break
            ended = self._ended()
            for index, result in ended:
                schedule.end(index, result)
                if isinstance(result.error, fatal):
                    raise result.error
        return [schedule.results[index] for index in range(len(jobs))]

    def _start(self, job: Job[Any], index: int) -> None:
        self._idle = [worker for worker in self._idle if worker.process.is_alive()]
        worker = self._idle.pop() if self._idle else _start_worker(self._context)
        self._busy[worker.connection] = worker, index
        # The end of its connection says that it has died meanwhile
        with suppress(BrokenPipeError):
            worker.connection.send(job.call)

    def _ended(self) -> list[tuple[int, JobResult[Any]]]:
        """Wait for messages of workers; return the jobs that have ended, with their results."""
        ended: list[tuple[int, JobResult[Any]]] = []
        for connection in wait(list(self._busy)):
            assert isinstance(connection, Connection)
            worker, index = self._busy[connection]
            try:
                message = connection.recv()
            except (EOFError, OSError):
                del self._busy[connection]
                ended.append((index, JobResult(error=_death(worker.process))))
                continue
            if isinstance(message, logging.LogRecord):
                logging.getLogger(message.name).handle(message)
                continue
            del self._busy[connection]
            self._idle.append(worker)
            if isinstance(message, str):
                raise RuntimeError(f"a job of the pool raised what it must not:\n{message}")
            ended.append((index, message))
        return ended


def _start_worker(context: Context | None) -> _Worker:
    """Start a worker by spawning: a copy of this process (fork) would hold its threads' locks."""
    own_end, worker_end = multiprocessing.get_context("spawn").Pipe()
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    # multiprocessing ends a daemon if this process ends without leaving the pool
    process = multiprocessing.get_context("spawn").Process(
        target=_work, args=(worker_end, context, levels), name="farpath-worker", daemon=True
    )
    # A terminal's signals wait until the worker has its handlers, and end this process after that
    former_mask = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINAL_SIGNALS)
    # Jobs call functions of modules. Spawning imports this process's script, which would begin by
    # running it.
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        process.start()
    finally:
        sys.modules["__main__"] = script
        signal.pthread_sigmask(signal.SIG_SETMASK, former_mask)
    worker_end.close()
    return _Worker(process, own_end)


def _death(process: BaseProcess) -> LabFailedError:
    """Wait for a worker that has closed its connection; return the error of its job."""
    process.join()
    status = process.exitcode or 0
    cause = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
    return LabFailedError(
        f"a run's process was ended {cause}, perhaps for want of memory: run fewer at once, with "
        "`jobs`"
    )


def _terminate(processes: Sequence[BaseProcess]) -> None:
    """Interrupt processes, and kill those that do not end in time.

    SIGTERM is repeated, since the kernel may give it to a library's thread, which does not
    interrupt the call in which the main thread waits.
    """
    end_s = time.monotonic() + CLEANUP_LIMIT_S
    alive = list(processes)
    while alive and time.monotonic() < end_s:
        for process in alive:
            process.terminate()
        wait([process.sentinel for process in alive], SIGNAL_INTERVAL_S)
        alive = [process for process in alive if process.is_alive()]
    for process in alive:
        process.kill()
    for process in processes:
        process.join()


def _work(connection: Connection, context: Context | None, levels: Mapping[str, int]) -> None:
    """Make jobs until the connection ends: the whole life of a worker."""
    _take_signals()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _forward_logs(connection, levels)
    given: list[Any] = []
    with ExitStack() as stack:
        while True:
            try:
                call = connection.recv()
            except EOFError:
                return
            start_s = time.monotonic()
            message: JobResult[Any] | str
            try:
                with resource_errors():
                    if context is not None and not given:
                        given = [stack.enter_context(context())]
                        start_s = time.monotonic()
                    message = JobResult(call(*given), wall_s=time.monotonic() - start_s)
            except FarpathError as error:
                message = JobResult(error=error, wall_s=time.monotonic() - start_s)
            except Exception:
                message = traceback.format_exc()
            connection.send(message)


def _take_signals() -> None:
    """Leave a terminal's signals to the parent; end in order by SIGTERM.

    A handler that does nothing, unlike SIG_IGN, is not inherited by the programs of a run. Signals
    that are ignored already, by nohup or in a shell's background, stay ignored.
    """
    for number in TERMINAL_SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda _number, _frame: None)
    signal.signal(signal.SIGTERM, _stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINAL_SIGNALS)


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    # A second one would interrupt the clean-up
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _end_with_parent() -> None:
    """End this process in order when its parent ends, and by force if that takes too long."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    parent = multiprocessing.parent_process()
    main_thread = threading.main_thread().ident
    assert parent is not None
    assert main_thread is not None
    parent.join()
    signal.pthread_kill(main_thread, signal.SIGTERM)
    time.sleep(CLEANUP_LIMIT_S)
    os._exit(1)


class _ConnectionHandler(logging.Handler):
    """Sends log records to the parent."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    def emit(self, record: logging.LogRecord) -> None:
        record.msg, record.args, record.exc_info = record.getMessage(), None, None
        self._connection.send(record)


def _forward_logs(connection: Connection, levels: Mapping[str, int]) -> None:
    """Let the parent log the records of a worker."""
    logging.getLogger(LOGGERS[0]).addHandler(_ConnectionHandler(connection))
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
