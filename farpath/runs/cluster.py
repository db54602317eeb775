"""Campaigns run by Snakemake: all runs of an experiment, with progress, and their report.

Snakemake (experiments/Snakefile) starts the jobs. Progress is read from the directory of records,
wherever the jobs run.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError, LabFailedError, MachineLacksError
from farpath.base.files import write_text
from farpath.base.project import EXPERIMENTS, REPORT_MARK, SITE_MARK
from farpath.lab.progress import pool_time_left_s, time_left_text
from farpath.record.record import RECORD_FILE
from farpath.runs.job import (
    PARTS,
    RUN_BYTES,
    TAIL_LINES,
    CampaignJob,
    campaign_directory,
    check_space,
    failed_error,
    ignored_record_notes,
    print_status,
)
from farpath.runs.status import RunStatus, move_damaged_records

SNAKEFILE = EXPERIMENTS / "Snakefile"
#: Seconds between two polls, and between two lines of progress when nothing happens.
POLL_INTERVAL_S = 1.0
PROGRESS_INTERVAL_S = 300.0
#: The parts that hold links to the records that the report is made of.
GATHERED_PARTS = ("records", "cpu-records")
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

    def counts(self) -> str:
        """Return how many runs are done, running, failed and left."""
        done, running, failed, waiting = map(len, self._sorted())
        total = len(self.todo) + self.made_before
        text = f"{done + self.made_before} of {total} runs made, {running} running, "
        return text + (f"{failed} failed, " if failed else "") + f"{waiting} left"

    def line(self, now_s: float) -> str:
        """Return the counts and the time that is left."""
        done, running, _failed, waiting = self._sorted()
        for state in running:
            self.started_s.setdefault(state.name, now_s)
        for state in done:
            if state.name in self.started_s:
                self.duration_s.setdefault(state.name, now_s - self.started_s[state.name])
        if not running and not waiting:
            return self.counts()
        return f"{self.counts()}; {time_left_text(self.time_left_s(running, waiting, now_s))}"

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


def run_campaign(job: CampaignJob) -> tuple[RunStatus, ...]:
    """Make the runs that have no record, then all parts of the report.

    Returns the states of the runs. Raises LabFailedError at the end if runs or parts of the report
    failed, with the commands of those runs; everything else is kept.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise MachineLacksError(
            "Snakemake is missing, which campaigns need: 'make venv-paper' in farpath's clone "
            "adds it to farpath's other packages"
        )
    if job.report is not None:
        check_report(job.report)
    with campaign_directory(job.out):
        (job.out / "logs").mkdir(exist_ok=True)
        states = _make_runs(job)
        recorded = [state for state in states if state.record is not None]
        unwritten = _write_report(job, job.report) if job.report and recorded else []
    missing = [state for state in states if state.record is None]
    failed = [f"{len(missing)} of {len(states)} runs failed"] if missing else []
    failed += ["parts of the report failed"] if unwritten else []
    if failed:
        lines = [line for state in missing for line in _failure_lines(job.out, state)]
        raise failed_error(" and ".join(failed), lines + unwritten)
    return states


def check_report(report: FilePath) -> None:
    """Raise BadInputError if the directory holds parts that farpath did not make.

    farpath would replace them.
    """
    if (report / REPORT_MARK).is_file() or (report / "page" / SITE_MARK).is_file():
        return
    parts = [name for name in (*GATHERED_PARTS, *PARTS) if os.path.lexists(report / name)]
    if parts:
        raise BadInputError(
            f"{report} holds {', '.join(parts)}, which farpath has not made and would replace: "
            "give --report another directory"
        )


def _write_report(job: CampaignJob, report: FilePath) -> list[str]:
    """Make the parts of the report of all records; return lines on parts that failed."""
    print_status(f"making {', '.join(job.parts)} of the records in {report}")
    write_text(report / REPORT_MARK, "Made by farpath, which replaces its parts.\n")
    log = _snakemake(job, ["report"], ["--forcerun", "gather"], partial=True)
    faults = []
    for part in job.parts:
        if not (report / part).exists():
            part_log = job.out / "logs" / f"report-{part}.log"
            faults += [f"{part}:", *_tail(part_log if part_log.is_file() else log)]
    return faults


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
    log = _snakemake(job, ["runs"], [], partial=False, progress=progress)
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


def _failure_lines(out: FilePath, state: RunStatus) -> list[str]:
    """Return a failed run's command and the end of its log."""
    command = " ".join([*state.run.command, f"--out={out}"])
    tail = _tail(out / "logs" / f"{state.name}.log")
    if not tail and shutil.disk_usage(out).free < RUN_BYTES:
        tail = [f"  it could say nothing: no space is left under {out}"]
    return [f"{state.run.label}: {command}", *tail]


def _tail(log: FilePath) -> list[str]:
    """Return the last lines of a log, indented."""
    lines = log.read_text(errors="replace").strip().splitlines() if log.is_file() else []
    return [f"  {line}" for line in lines[-TAIL_LINES:]]


def _command(
    job: CampaignJob, targets: Sequence[str], arguments: Sequence[str], partial: bool
) -> list[str]:
    settings = [f"experiment={job.experiment.name}", f"set={job.which}"]
    settings += [f"experiments={job.experiments.resolve()}"]
    settings += [f"report={job.report.resolve()}"] if job.report else []
    settings += ["partial=1"] if partial else []
    settings += job.experiment.part.settings()
    settings += [] if "--executor" in job.options else [f"cores={job.cores}"]
    return [
        *(sys.executable, "-m", "snakemake", *targets),
        *("--snakefile", str(SNAKEFILE), "--directory", str(job.out.resolve())),
        *("--cores", str(job.cores), "--jobs", str(job.cores), "--scheduler", "greedy"),
        *("--keep-going", "--ignore-incomplete", "--rerun-triggers", "mtime"),
        *("--nolock", "--nocolor", "--drop-metadata"),
        *arguments,
        *job.options,
        *("--config", *settings),
    ]


def _snakemake(
    job: CampaignJob,
    targets: Sequence[str],
    arguments: Sequence[str],
    *,
    partial: bool,
    progress: Progress | None = None,
) -> FilePath:
    """Run Snakemake to its end; return the log of its output.

    However this process ends, Snakemake and its jobs are interrupted.
    """
    log = job.out / "logs" / f"snakemake-{targets[0]}.log"
    with log.open("wb") as logged:
        process = subprocess.Popen(
            _command(job, targets, arguments, partial),
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


def _follow(process: subprocess.Popen[bytes], progress: Progress | None) -> None:
    """Wait for a process; print progress when it changes, and at intervals."""
    last_counts, last_print_s = "", time.monotonic()
    while True:
        over = process.poll() is not None
        if progress is not None:
            now_s = time.monotonic()
            counts, line = progress.counts(), progress.line(now_s)
            if counts != last_counts or now_s - last_print_s > PROGRESS_INTERVAL_S:
                print_status(line)
                last_counts, last_print_s = counts, now_s
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
