"""Campaigns on a cluster: Snakemake starts the runs of an experiment on Slurm or Kubernetes.

Its jobs are described in experiments/Snakefile. Progress is read from the directory of records,
wherever the jobs run.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from farpath.base.errors import LabFailedError, MachineLacksError
from farpath.base.project import EXPERIMENTS
from farpath.lab.pool import PoolProgress
from farpath.lab.progress import pool_time_left_s
from farpath.record.record import RECORD_FILE
from farpath.runs.job import (
    TAIL_LINES,
    CampaignJob,
    campaign_directory,
    check_space,
    failed_error,
    failure_lines,
    ignored_record_notes,
    print_status,
)
from farpath.runs.run_set_progress import progress_text
from farpath.runs.status import RunStatus, move_damaged_records

SNAKEFILE = EXPERIMENTS / "Snakefile"
#: Seconds between two polls, and between two lines of progress when nothing happens.
POLL_INTERVAL_S = 1.0
PROGRESS_INTERVAL_S = 300.0
#: A shell script that interrupts a process group unless a line arrives before the end of its input.
JANITOR = 'read -r _ && exit; kill -s INT -- "-$1"'
#: Seconds that jobs may take to clean up after an interruption.
CLEANUP_LIMIT_S = 30.0


@dataclass
class Progress:
    """The progress of the runs that this call has to make.

    The time left comes from the expected time of each run, scaled by how long finished runs took.
    """

    todo: Sequence[RunStatus]
    out: FilePath
    cores: int
    made_before: int
    started_s: dict[str, float] = field(default_factory=dict)
    duration_s: dict[str, float] = field(default_factory=dict)

    def _sorted(self) -> tuple[list[RunStatus], list[RunStatus], list[RunStatus], list[RunStatus]]:
        """Return the runs that are done, running, failed, and waiting."""
        done, running, failed, waiting = [], [], [], []
        for state in self.todo:
            if (self.out / state.name / RECORD_FILE).exists():
                done.append(state)
            elif (self.out / "logs" / f"{state.name}.failed").exists():
                failed.append(state)
            elif (self.out / f".{state.name}.lock").exists():
                running.append(state)
            else:
                waiting.append(state)
        return done, running, failed, waiting

    def now(self, now_s: float) -> PoolProgress:
        """Return how many runs are done, running, failed and left, and the time that is left."""
        done, running, failed, waiting = self._sorted()
        for state in running:
            self.started_s.setdefault(state.name, now_s)
        for state in done:
            if state.name in self.started_s:
                self.duration_s.setdefault(state.name, now_s - self.started_s[state.name])
        left_s = self.time_left_s(running, waiting, now_s)
        return PoolProgress(len(done), len(failed), len(running), len(waiting), left_s)

    def line(self, now_s: float) -> str:
        """Return the counts and the time that is left, for people."""
        return progress_text(self.now(now_s), before=self.made_before)

    def time_left_s(
        self, running: Sequence[RunStatus], waiting: Sequence[RunStatus], now_s: float
    ) -> float:
        """Return the real seconds until all runs are over, if none fails."""
        expected_s = {state.name: state.run.expected_s for state in self.todo}
        return pool_time_left_s(
            ended=[(expected_s[name], took_s) for name, took_s in self.duration_s.items()],
            running=[
                (expected_s[state.name], now_s - self.started_s[state.name]) for state in running
            ],
            waiting=[expected_s[state.name] for state in waiting],
            cores=self.cores,
        )


def make_on_cluster(job: CampaignJob) -> tuple[RunStatus, ...]:
    """Make the runs that have no record with the executor of Snakemake that ``job.options`` name.

    Returns the states of the runs. Raises LabFailedError at the end if runs failed, with the
    commands of those runs; everything else is kept.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise MachineLacksError(
            "Snakemake is missing, which clusters need: 'make venv-paper' in farpath's clone "
            "adds it to farpath's other packages"
        )
    with campaign_directory(job.out):
        (job.out / "logs").mkdir(exist_ok=True)
        states = _make_runs(job)
    if missing := [state for state in states if state.record is None]:
        lines = [line for state in missing for line in failure_lines(job.out, state, None)]
        raise failed_error(f"{len(missing)} of {len(states)} runs failed", lines)
    return states


def _make_runs(job: CampaignJob) -> tuple[RunStatus, ...]:
    before = job.states()
    for line in [*move_damaged_records(job.out, before), *ignored_record_notes(job.out, before)]:
        print_status(line)
    todo = [state for state in before if state.record is None]
    for file in (job.out / "logs").glob("*.failed"):
        file.unlink()
    progress = Progress(todo, job.out, job.cores, len(before) - len(todo))
    if not todo:
        print_status(progress.line(time.monotonic()))
        return before
    check_space(job.out, min(job.cores, len(todo)))
    log = _snakemake(job, progress)
    after = job.states()
    reported = {file.stem for file in (job.out / "logs").glob("*.failed")}
    if unreported := [
        state for state in after if state.record is None and state.name not in reported
    ]:
        raise LabFailedError(
            f"Snakemake ended with {len(unreported)} runs not made: all it said is in {log}",
            "\n".join(_tail(log)),
        )
    return after


def _tail(log: FilePath) -> list[str]:
    """Return the last lines of a log, indented."""
    lines = log.read_text(errors="replace").strip().splitlines() if log.is_file() else []
    return [f"  {line}" for line in lines[-TAIL_LINES:]]


def _command(job: CampaignJob) -> list[str]:
    settings = [f"experiment={job.experiment.name}", f"set={job.which}"]
    settings += [f"experiments={job.experiments.resolve()}", *job.experiment.part.settings()]
    return [
        *(sys.executable, "-m", "snakemake", "runs"),
        *("--snakefile", str(SNAKEFILE), "--directory", str(job.out.resolve())),
        *("--cores", str(job.cores), "--jobs", str(job.cores), "--scheduler", "greedy"),
        *("--keep-going", "--ignore-incomplete", "--rerun-triggers", "mtime"),
        *("--nolock", "--nocolor", "--drop-metadata"),
        *job.options,
        *("--config", *settings),
    ]


def _snakemake(job: CampaignJob, progress: Progress) -> FilePath:
    """Run Snakemake to its end; return the log of its output.

    However this process ends, Snakemake and its jobs are interrupted.
    """
    log = job.out / "logs" / "snakemake-runs.log"
    with log.open("wb") as logged:
        process = subprocess.Popen(
            _command(job),
            stdin=subprocess.DEVNULL,
            stdout=logged,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # A campaign in a shell's background ignores SIGINT; its jobs must not
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        with _interrupted_at_end(process):
            _follow(process, progress)
    return log


def _follow(process: subprocess.Popen[bytes], progress: Progress) -> None:
    """Wait for a process; print progress when it changes, and at intervals."""
    last, last_print_s = None, time.monotonic()
    while True:
        over = process.poll() is not None
        now_s = time.monotonic()
        counts = dataclasses.replace(progress.now(now_s), left_s=None)
        if counts != last or now_s - last_print_s > PROGRESS_INTERVAL_S:
            print_status(progress.line(now_s))
            last, last_print_s = counts, now_s
        if over:
            return
        time.sleep(POLL_INTERVAL_S)


@contextmanager
def _interrupted_at_end(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Interrupt a process and its children when this one ends early, even if killed.

    A janitor process waits on a pipe: a line means that all is well, end of file that it is not.
    """
    janitor = subprocess.Popen(
        ["sh", "-c", JANITOR, "farpath-janitor", str(process.pid)],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert janitor.stdin is not None
    try:
        yield
        janitor.stdin.write(b"over\n")
    except BaseException:
        os.killpg(process.pid, signal.SIGINT)
        _wait_for_group(process)
        janitor.stdin.write(b"over\n")
        raise
    finally:
        janitor.stdin.close()
        janitor.wait()


def _wait_for_group(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process group has cleaned up, at most CLEANUP_LIMIT_S."""
    end_s = time.monotonic() + CLEANUP_LIMIT_S
    with suppress(ProcessLookupError):
        while time.monotonic() < end_s:
            process.poll()
            os.killpg(process.pid, 0)
            time.sleep(POLL_INTERVAL_S / 10)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
