"""The pool: jobs in real worker processes, what fails, and what is left when it is ended."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, LabFailedError, MachineLacksError
from farpath.lab.pool import Job, JobEvent, Pool
from tests.support.processes import LIMIT_S, await_true, interruptible, is_living

#: A command whose jobs begin and do not end.
COMMAND = """
import sys
from functools import partial
from farpath.lab.pool import Job, Pool
from tests.unit.lab.test_pool import hold
with Pool(2) as pool:
    pool.run([Job(partial(hold, sys.argv[1], number)) for number in range(3)])
"""


def fail(message: str) -> None:
    raise BadInputError(message, "detail")


def divide(by: int) -> float:
    return 1 / by


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def log_and_return(text: str) -> str:
    logging.getLogger("farpath.tests").info("%s", text)
    return text


def hold(folder: str, number: int) -> None:
    """A run: a guest in a session of its own, as ``farpath.lab.process`` starts it."""
    guest = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", "sleep", "1000"], start_new_session=True
    )
    file = FilePath(folder) / str(number)
    try:
        file.with_suffix(".part").write_text(f"{os.getpid()} {guest.pid}")
        file.with_suffix(".part").rename(file)
        guest.wait()
    finally:
        os.killpg(guest.pid, signal.SIGKILL)
        guest.wait()
        file.with_suffix(".cleaned").touch()


@contextmanager
def entered(folder: FilePath) -> Iterator[int]:
    """A pool's context: the number of its worker."""
    (folder / f"in-{os.getpid()}").touch()
    yield os.getpid()
    (folder / f"out-{os.getpid()}").touch()


def same(value: int) -> int:
    return value


def not_here() -> AbstractContextManager[None]:
    raise MachineLacksError("this machine has none")


def begun(jobs: Sequence[Job], cores: int) -> list[int]:
    """The indices of jobs in the order in which a pool begins them."""
    order: list[int] = []

    def note(event: JobEvent) -> None:
        if event.result is None:
            order.append(event.index)

    with Pool(cores) as pool:
        pool.run(jobs, note)
    return order


def test_the_longest_job_begins_first_and_results_have_the_order_of_the_jobs() -> None:
    jobs = [Job(partial(same, cost), cost_s=cost) for cost in (2, 9, 4, 9)]
    assert begun(jobs, 1) == [1, 3, 2, 0]
    with Pool(2) as pool:
        assert [result.unwrap() for result in pool.run(jobs)] == [2, 9, 4, 9]
        assert pool.run([]) == []


def test_so_many_jobs_run_at_once_as_the_pool_has_cores() -> None:
    running: set[int] = set()
    most = 0
    jobs = [Job(partial(time.sleep, 0.05), 5 - index) for index in range(5)]

    def note(event: JobEvent) -> None:
        nonlocal most
        (running.add if event.result is None else running.remove)(event.index)
        most = max(most, len(running))

    with Pool(3) as pool:
        pool.run(jobs, note)
    assert most == 3


def test_a_failed_job_keeps_its_error_and_stops_no_other() -> None:
    jobs: list[Job] = [Job(partial(fail, "no")), Job(partial(same, 1))]
    with Pool(1) as pool:
        failed, made = pool.run(jobs)
    assert isinstance(failed.error, BadInputError)
    assert (failed.error.message, failed.error.detail) == ("no", "detail")
    assert made.unwrap() == 1
    with pytest.raises(BadInputError, match=r"^no$"):
        failed.unwrap()


def test_a_fatal_error_is_raised_at_once_and_ends_what_runs(tmp_path: FilePath) -> None:
    start_s = time.monotonic()
    jobs = [Job(partial(hold, str(tmp_path), 0), cost_s=2), Job(partial(fail, "no"))]
    with pytest.raises(BadInputError, match=r"^no$"), Pool(2) as pool:
        pool.run(jobs, fatal=(BadInputError,))
    assert time.monotonic() - start_s < LIMIT_S
    assert not (tmp_path / "0").exists() or (tmp_path / "0.cleaned").exists()


def test_a_bug_in_a_job_is_raised_with_its_traceback() -> None:
    with pytest.raises(RuntimeError, match=r"in divide(?s:.*)ZeroDivisionError"), Pool(1) as pool:
        pool.run([Job(partial(divide, 0))])


def test_a_killed_worker_fails_its_job_alone() -> None:
    jobs: list[Job] = [Job(kill_self), Job(partial(same, 1))]
    with Pool(1) as pool:
        killed, made = pool.run(jobs)
    assert isinstance(killed.error, LabFailedError)
    assert "ended by SIGKILL, perhaps for want of memory" in killed.error.message
    assert made.unwrap() == 1


def test_progress_counts_jobs_and_estimates_the_time_left() -> None:
    events: list[JobEvent] = []
    jobs: list[Job] = [Job(partial(time.sleep, 0.2), 10), Job(partial(fail, "no")), Job(int)]
    with Pool(1) as pool:
        pool.run(jobs, events.append)
    first, second, *_, last = (event.progress for event in events)
    assert (first.running, first.waiting, first.left_s) == (1, 2, None)
    # The core that became free has its next job already
    assert (second.done, second.running, second.waiting) == (1, 1, 1)
    # Ten expected seconds were 0.2 real ones, so the other two take a tenth of that each
    assert second.left_s == pytest.approx(0.04, rel=0.5)
    assert (last.done, last.failed, last.ended, last.running, last.left_s) == (2, 1, 3, 0, 0)


def test_each_worker_enters_the_context_once_and_leaves_it_after_its_last_job(
    tmp_path: FilePath,
) -> None:
    with Pool(1, partial(entered, tmp_path)) as pool:
        numbers = {result.unwrap() for result in pool.run([Job(same), Job(same)])}
    (number,) = numbers
    assert {file.name for file in tmp_path.iterdir()} == {f"in-{number}", f"out-{number}"}


def test_a_context_that_fails_fails_the_job() -> None:
    with pytest.raises(MachineLacksError, match="has none"), Pool(1, not_here) as pool:
        pool.run([Job(same)], fatal=(MachineLacksError,))


def test_what_a_worker_logs_is_logged_here(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "farpath")
    with Pool(1) as pool:
        pool.run([Job(partial(log_and_return, "said in a worker"))])
    assert "said in a worker" in caplog.messages


@pytest.mark.parametrize(
    ("number", "to_all"),
    [
        (signal.SIGINT, True),
        (signal.SIGINT, False),
        (signal.SIGTERM, False),
        (signal.SIGHUP, True),
        (signal.SIGKILL, False),
    ],
)
def test_however_a_command_ends_its_jobs_clean_up_and_no_process_is_left(
    number: signal.Signals, to_all: bool, tmp_path: FilePath
) -> None:
    command = [sys.executable, "-c", COMMAND, str(tmp_path)]
    process = subprocess.Popen(
        interruptible(command), stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    files = [tmp_path / "0", tmp_path / "1"]
    await_true(lambda: process.poll() is not None or all(file.exists() for file in files))
    assert process.poll() is None
    children = [int(word) for file in files for word in file.read_text().split()]
    # A terminal sends Ctrl-C and a hang-up to all processes of a command
    (os.killpg if to_all else os.kill)(process.pid, number)
    _, said = process.communicate(timeout=LIMIT_S)
    await_true(lambda: not any(is_living(child) for child in children))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["0", "0.cleaned", "1", "1.cleaned"]
    assert said.count("Traceback") == (number == signal.SIGINT)


def test_a_job_whose_clean_up_is_interrupted_again_still_ends_in_order(tmp_path: FilePath) -> None:
    process = subprocess.Popen(
        interruptible([sys.executable, "-c", COMMAND, str(tmp_path)]), stderr=subprocess.DEVNULL
    )
    file = tmp_path / "0"
    await_true(file.exists)
    worker, guest = (int(word) for word in file.read_text().split())
    for _ in range(3):
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGTERM)
    await_true(lambda: not is_living(worker) and not is_living(guest))
    assert (tmp_path / "0.cleaned").exists()
    process.terminate()
    process.wait(LIMIT_S)
