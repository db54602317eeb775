"""Campaigns run by Snakemake: all runs of an experiment, with progress, and their report.

Snakemake (experiments/Snakefile) starts the jobs. Progress is read from the directory of records,
wherever the jobs run.
"""

from __future__ import annotations

import importlib.util
import logging
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

from farpath.analysis.record_set import STUDY, default_view
from farpath.base.errors import BadInputError, LabFailedError, MachineLacksError
from farpath.base.files import user_errors, write_text
from farpath.base.locks import exclusive_lock, remove_stale_locks, remove_stale_partials
from farpath.base.project import EXPERIMENTS, REPORT_MARK, SITE_MARK
from farpath.campaign.status import (
    RunStatus,
    move_damaged_records,
    records_in,
    run_statuses,
    shipped_records,
)
from farpath.lab.machine import available_cores
from farpath.lab.progress import time_left_text
from farpath.planning.experiment import WHOLE, Experiment, WantedRun
from farpath.record.record import RECORD_FILE

LOG = logging.getLogger(__name__)
SNAKEFILE = EXPERIMENTS / "Snakefile"
#: Disk space of a run of 960 s, page included, and as much again while it is written.
RUN_BYTES = 12 << 20
#: Seconds between two polls, and between two lines of progress when nothing happens.
POLL_INTERVAL_S = 1.0
PROGRESS_INTERVAL_S = 300.0
#: The parts of the study's report, each a directory (experiments/Snakefile).
PARTS = ("tables", "claims", "figures", "page")
#: The parts that hold links to the records that the report is made of.
GATHERED_PARTS = ("records", "cpu-records")
#: The parts of other reports: the study's documents make no claims about those runs.
PLAIN_RUN_PARTS = ("tables", "figures", "page")
#: How many lines of a failed run's log are repeated at the end.
TAIL_LINES = 4
#: The lock file in the directory of records, held while a campaign runs there.
LOCK = ".campaign.lock"
#: A shell script that interrupts a process group unless a line arrives before the end of its input.
JANITOR = 'read -r _ && exit; kill -s INT -- "-$1"'
#: Seconds that jobs may take to clean up after an interruption.
CLEANUP_LIMIT_S = 30.0


@dataclass(frozen=True)
class CampaignJob:
    """A set of runs to make, and the directories for its records and its report.

    ``cores``: how many runs at once. ``options``: further options for Snakemake.
    """

    experiment: Experiment
    which: str = WHOLE
    out: FilePath = FilePath("results")
    report: FilePath | None = None
    experiments: FilePath = EXPERIMENTS
    cores: int = field(default_factory=available_cores)
    options: tuple[str, ...] = ()

    @property
    def runs(self) -> tuple[WantedRun, ...]:
        """The runs, the longest first."""
        return self.experiment.runs(self.which)

    def states(self, runs: Sequence[WantedRun] | None = None) -> tuple[RunStatus, ...]:
        """Return the states of all runs or of some, shipped records included.

        Shipped host-lab records count only if this machine has made none.
        """
        wanted = self.runs if runs is None else runs
        if not self.on_host:
            return run_statuses(wanted, [self.out, *self.shipped])
        local = self.local_states(wanted)
        return local if any(state.record for state in local) else run_statuses(wanted, self.shipped)

    def local_states(self, runs: Sequence[WantedRun] | None = None) -> tuple[RunStatus, ...]:
        """Return states as ``states`` does, but ignore shipped host-lab records.

        Those were measured on another machine.
        """
        wanted = self.runs if runs is None else runs
        return run_statuses(wanted, [self.out]) if self.on_host else self.states(wanted)

    @property
    def shipped(self) -> tuple[FilePath, ...]:
        """The directories of this set's shipped records, one for each experiment."""
        parts = self.experiment.parts
        return tuple(shipped_records(part, self.experiments, self.which) for part in parts)

    @property
    def is_study(self) -> bool:
        """Whether these are runs of the 2005 study, so that the report follows the paper."""
        return default_view([run.plan for run in self.runs]) == STUDY

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the report."""
        return PARTS if self.is_study else PLAIN_RUN_PARTS

    @property
    def on_host(self) -> bool:
        """Whether these are runs of the host lab."""
        return any(run.on_host for run in self.runs)


def check_space(out: FilePath, runs: int) -> None:
    """Raise MachineLacksError unless the disk has room for the records of that many runs.

    A run that ends with a full disk is lost.
    """
    free, needed = shutil.disk_usage(out).free, runs * RUN_BYTES
    if free < needed:
        raise MachineLacksError(
            f"no space left under {out}: {free >> 20} MiB are free and {runs} run"
            f"{'s take' if runs > 1 else ' takes'} {needed >> 20}: free some, or give another "
            "place with OUT"
        )


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
        expected = {state.name: state.run.expected_s for state in self.todo}
        scale = sum(self.duration_s.values()) / sum(
            expected[name] for name in self.duration_s or expected
        )
        scale = scale if self.duration_s else 1.0
        rest = [
            max(0.0, scale * expected[state.name] - (now_s - self.started_s[state.name]))
            for state in running
        ]
        rest += [scale * expected[state.name] for state in waiting]
        return max(sum(rest) / self.cores, max(rest))


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
    with user_errors(job.out):
        (job.out / "logs").mkdir(parents=True, exist_ok=True)
        with exclusive_lock(job.out / LOCK, f"conducts a campaign in {job.out}"):
            states = _make_runs(job)
            recorded = [state for state in states if state.record is not None]
            unwritten = _write_report(job, job.report) if job.report and recorded else []
    missing = [state for state in states if state.record is None]
    failed = [f"{len(missing)} of {len(states)} runs failed"] if missing else []
    failed += ["parts of the report failed"] if unwritten else []
    if failed:
        raise LabFailedError(
            f"{' and '.join(failed)}; what was made is kept, and the same command tries the rest "
            "again",
            "\n".join(
                [line for state in missing for line in _failure_lines(job.out, state)] + unwritten
            ),
        )
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
    remove_stale_partials(job.out)
    remove_stale_locks(job.out)
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


def ignored_record_notes(out: FilePath, states: Sequence[RunStatus]) -> list[str]:
    """Return sentences on records that do not count, and on those made by other code."""
    counted = {state.record.resolve() for state in states if state.record is not None}
    others = [record_dir for record_dir in records_in(out) if record_dir.resolve() not in counted]
    sentences = []
    if others:
        sentences.append(
            f"of another kernel, image or setting, and left out: {len(others)} of the records "
            f"in {out}"
        )
    if older := sum(state.other_results for state in states):
        sentences.append(
            f"made by a farpath that gives other results, and counted: {older} records"
        )
    return sentences


def print_status(line: str) -> None:
    """Log one line for people."""
    LOG.info("campaign: %s", line)


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
