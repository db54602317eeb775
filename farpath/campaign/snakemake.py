"""Conduct: all runs of an experiment by Snakemake, with progress, and what is made of them.

Snakemake (experiments/Snakefile) starts the jobs; what is done, running and left is seen
in the directory of records, wherever the jobs run.
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

from farpath.analysis.record_set import STUDY, default_view
from farpath.base.errors import BadInputError, LabFailedError, MachineLacksError
from farpath.base.files import user_errors, write_text
from farpath.base.locks import exclusive_lock, remove_stale_locks, remove_stale_partials
from farpath.base.project import EXPERIMENTS, REPORT_MARK, SITE_MARK
from farpath.campaign.status import RunStatus, put_aside, records_in, run_statuses, shipped_records
from farpath.planning.experiment import WHOLE, Experiment, WantedRun
from farpath.record.record import RECORD_FILE

SNAKEFILE = EXPERIMENTS / "Snakefile"
#: What a run of 960 s takes on disk, page included, and as much again while it is made.
RUN_BYTES = 12 << 20
#: Between two looks, and between two lines of progress when nothing happens.
LOOK_S = 1.0
LINE_EVERY_S = 300.0
#: What is made of the study's records, each a directory of the report (experiments/Snakefile).
PARTS = ("tables", "claims", "figures", "page")
#: Those that hold links to the records that they are made of.
GATHERED_PARTS = ("records", "cpu-records")
#: The same of others, of which the study's documents claim nothing.
OWN_PARTS = ("tables", "figures", "page")
#: How many lines of a failed run are repeated at the end.
TAIL_LINES = 4
#: The campaign's own file in the directory of records, locked while it is conducted.
LOCK = ".campaign.lock"
#: Interrupts a process group unless a line comes before the end of its input.
JANITOR = 'read -r _ && exit; kill -s INT -- "-$1"'
#: How long jobs may take to clean up after an interruption.
CLEANING_S = 30.0


@dataclass(frozen=True)
class CampaignJob:
    """What is to be made: a set of runs, where records go and where what is made of them.

    ``cores``: how many runs at once. ``options``: more of Snakemake's own.
    """

    experiment: Experiment
    which: str = WHOLE
    out: FilePath = FilePath("results")
    report: FilePath | None = None
    experiments: FilePath = EXPERIMENTS
    cores: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    options: tuple[str, ...] = ()

    @property
    def runs(self) -> tuple[WantedRun, ...]:
        """The runs, the longest first."""
        return self.experiment.runs(self.which)

    def states(self, runs: Sequence[WantedRun] | None = None) -> tuple[RunStatus, ...]:
        """What is made and what is not, of all runs or of some, shipped records included.

        Those of the host lab are shown only where there are none of one's own machine.
        """
        asked = self.runs if runs is None else runs
        if not self.on_host:
            return run_statuses(asked, [self.out, *self.shipped])
        own = self.states_here(asked)
        return own if any(state.record for state in own) else run_statuses(asked, self.shipped)

    def states_here(self, runs: Sequence[WantedRun] | None = None) -> tuple[RunStatus, ...]:
        """The same for who makes runs: a shipped one of the host lab is another machine's."""
        asked = self.runs if runs is None else runs
        return run_statuses(asked, [self.out]) if self.on_host else self.states(asked)

    @property
    def shipped(self) -> tuple[FilePath, ...]:
        """Where the project keeps the records of this set that it ships, by experiment."""
        parts = self.experiment.parts
        return tuple(shipped_records(part, self.experiments, self.which) for part in parts)

    @property
    def is_study(self) -> bool:
        """Whether these are runs of the 2005 study, and their report is as the paper's."""
        return default_view([run.plan for run in self.runs]) == STUDY

    @property
    def parts(self) -> tuple[str, ...]:
        """What the report is made of."""
        return PARTS if self.is_study else OWN_PARTS

    @property
    def on_host(self) -> bool:
        """Whether these are runs of the host lab."""
        return any(run.on_host for run in self.runs)


def check_space(out: FilePath, runs: int) -> None:
    """Raise MachineLacksError unless so many runs' records find room.

    A run that ends in a full disk has computed for nothing.
    """
    free, needed = shutil.disk_usage(out).free, runs * RUN_BYTES
    if free < needed:
        raise MachineLacksError(
            f"no space left under {out}: {free >> 20} MiB are free and {runs} run"
            f"{'s take' if runs > 1 else ' takes'} {needed >> 20}: free some, or give another "
            "place with OUT"
        )


def hours(seconds: float) -> str:
    """The time that is left, for people.

    >>> hours(7500), hours(95), hours(20)
    ('about 2 h 5 min to go', 'about 2 min to go', 'under a minute to go')
    """
    minutes = round(seconds / 60)
    if seconds < 60:
        return "under a minute to go"
    if minutes < 60:
        return f"about {minutes} min to go"
    return f"about {minutes // 60} h {minutes % 60} min to go"


@dataclass
class Progress:
    """How far the runs are that this call has to make.

    The time left comes from what the experiment expects of each run, corrected by how
    long those took that have ended.
    """

    todo: Sequence[RunStatus]
    out: FilePath
    cores: int
    made_before: int
    began: dict[str, float] = field(default_factory=dict)
    took: dict[str, float] = field(default_factory=dict)

    def _sorted(self) -> tuple[list[RunStatus], list[RunStatus], list[RunStatus], list[RunStatus]]:
        """The runs that are done, running, failed, and waiting."""
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
        """How many runs are done, running, failed and left."""
        done, running, failed, waiting = map(len, self._sorted())
        total = len(self.todo) + self.made_before
        text = f"{done + self.made_before} of {total} runs made, {running} running, "
        return text + (f"{failed} failed, " if failed else "") + f"{waiting} left"

    def line(self, now_s: float) -> str:
        """The counts, and the time that is left."""
        done, running, _failed, waiting = self._sorted()
        for state in running:
            self.began.setdefault(state.name, now_s)
        for state in done:
            if state.name in self.began:
                self.took.setdefault(state.name, now_s - self.began[state.name])
        if not running and not waiting:
            return self.counts()
        return f"{self.counts()}; {hours(self.left_s(running, waiting, now_s))}"

    def left_s(
        self, running: Sequence[RunStatus], waiting: Sequence[RunStatus], now_s: float
    ) -> float:
        """Real seconds until all runs are over, if none fails."""
        expected = {state.name: state.run.expected_s for state in self.todo}
        scale = sum(self.took.values()) / sum(expected[name] for name in self.took or expected)
        scale = scale if self.took else 1.0
        rest = [
            max(0.0, scale * expected[state.name] - (now_s - self.began[state.name]))
            for state in running
        ]
        rest += [scale * expected[state.name] for state in waiting]
        return max(sum(rest) / self.cores, max(rest))


def run_campaign(job: CampaignJob) -> tuple[RunStatus, ...]:
    """Make the runs that have no record, then the parts of the report of all.

    Returns the runs' states. Raises LabFailedError at the end if runs failed, with
    their commands, or parts of the report; all else is kept.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise MachineLacksError(
            "Snakemake is missing, which campaigns need: 'make venv-paper' in farpath's clone "
            "installs it beside farpath's other packages"
        )
    if job.report is not None:
        check_report(job.report)
    with user_errors(job.out):
        (job.out / "logs").mkdir(parents=True, exist_ok=True)
        with exclusive_lock(job.out / LOCK, f"conducts a campaign in {job.out}"):
            found = _make_runs(job)
            made = [state for state in found if state.record is not None]
            unwritten = _write_report(job, job.report) if job.report and made else []
    missing = [state for state in found if state.record is None]
    failed = [f"{len(missing)} of {len(found)} runs failed"] if missing else []
    failed += ["parts of the report failed"] if unwritten else []
    if failed:
        raise LabFailedError(
            f"{' and '.join(failed)}; what was made is kept, and the same command tries the rest "
            "again",
            "\n".join([line for state in missing for line in _why(job.out, state)] + unwritten),
        )
    return found


def check_report(report: FilePath) -> None:
    """Raise BadInputError for a place whose parts Snakemake would remove, and are not farpath's."""
    if (report / REPORT_MARK).is_file() or (report / "page" / SITE_MARK).is_file():
        return
    parts = [name for name in (*GATHERED_PARTS, *PARTS) if os.path.lexists(report / name)]
    if parts:
        raise BadInputError(
            f"{report} holds {', '.join(parts)}, which farpath has not made and would replace: "
            "give --report another directory"
        )


def _write_report(job: CampaignJob, report: FilePath) -> list[str]:
    """The parts of the report of all records; says what could not be made."""
    say(f"making {', '.join(job.parts)} of the records in {report}")
    write_text(report / REPORT_MARK, "Made by farpath, which replaces its parts.\n")
    log = _snakemake(job, ["report"], ["--forcerun", "gather"], partial=True)
    faults = []
    for part in job.parts:
        if not (report / part).exists():
            own = job.out / "logs" / f"report-{part}.log"
            faults += [f"{part}:", *_tail(own if own.is_file() else log)]
    return faults


def _make_runs(job: CampaignJob) -> tuple[RunStatus, ...]:
    remove_stale_partials(job.out)
    remove_stale_locks(job.out)
    before = job.states()
    for line in [*put_aside(job.out, before), *left_out(job.out, before)]:
        say(line)
    todo = [state for state in before if state.record is None]
    for file in (job.out / "logs").glob("*.failed"):
        file.unlink()
    progress = Progress(todo, job.out, job.cores, len(before) - len(todo))
    if not todo:
        say(progress.line(time.monotonic()))
        return before
    check_space(job.out, min(job.cores, len(todo)))
    log = _snakemake(job, ["runs"], [], partial=False, progress=progress)
    after = job.states()
    told = {file.stem for file in (job.out / "logs").glob("*.failed")}
    if untold := [state for state in after if state.record is None and state.name not in told]:
        raise LabFailedError(
            f"Snakemake ended with {len(untold)} runs not made: all it said is in {log}",
            "\n".join(_tail(log)),
        )
    return after


def left_out(out: FilePath, found: Sequence[RunStatus]) -> list[str]:
    """Sentences about records that count for nothing, and about those of other code."""
    taken = {state.record.resolve() for state in found if state.record is not None}
    others = [place for place in records_in(out) if place.resolve() not in taken]
    said = []
    if others:
        said.append(
            f"of another kernel, image or setting, and left out: {len(others)} of the records "
            f"in {out}"
        )
    if older := sum(state.other_code for state in found):
        said.append(f"made by another version of farpath's code, and counted: {older} records")
    return said


def say(line: str) -> None:
    """One line for people, on stderr."""
    print(f"campaign: {line}", file=sys.stderr, flush=True)


def _why(out: FilePath, state: RunStatus) -> list[str]:
    """A failed run's command and the last that it said."""
    command = " ".join([*state.run.command, f"--out={out}"])
    said = _tail(out / "logs" / f"{state.name}.log")
    if not said and shutil.disk_usage(out).free < RUN_BYTES:
        said = [f"  it could say nothing: no space is left under {out}"]
    return [f"{state.run.label}: {command}", *said]


def _tail(log: FilePath) -> list[str]:
    """The last lines of a log, indented."""
    said = log.read_text(errors="replace").strip().splitlines() if log.is_file() else []
    return [f"  {line}" for line in said[-TAIL_LINES:]]


def _command(
    job: CampaignJob, targets: Sequence[str], more: Sequence[str], partial: bool
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
        *more,
        *job.options,
        *("--config", *settings),
    ]


def _snakemake(
    job: CampaignJob,
    targets: Sequence[str],
    more: Sequence[str],
    *,
    partial: bool,
    progress: Progress | None = None,
) -> FilePath:
    """Run Snakemake to its end; returns the log of all it said.

    However this process ends, Snakemake and its jobs are interrupted.
    """
    log = job.out / "logs" / f"snakemake-{targets[0]}.log"
    with log.open("wb") as logged:
        process = subprocess.Popen(
            _command(job, targets, more, partial),
            stdin=subprocess.DEVNULL,
            stdout=logged,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # A campaign in a shell's background ignores interrupts; its jobs must not
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        with _interrupted_at_end(process):
            _follow(process, progress)
    return log


def _follow(process: subprocess.Popen[bytes], progress: Progress | None) -> None:
    """Wait for a process and say how far the runs are, when that changes and now and then."""
    shown, shown_s = "", time.monotonic()
    while True:
        over = process.poll() is not None
        if progress is not None:
            now_s = time.monotonic()
            counts, line = progress.counts(), progress.line(now_s)
            if counts != shown or now_s - shown_s > LINE_EVERY_S:
                say(line)
                shown, shown_s = counts, now_s
        if over:
            return
        time.sleep(LOOK_S)


@contextmanager
def _interrupted_at_end(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Interrupt a process and its children when this one ends early, even if killed.

    A janitor waits on a pipe: a line says that all is well, its end that it is not.
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
    """Wait until a process and all that it started have cleaned up; no longer than that."""
    end_s = time.monotonic() + CLEANING_S
    with suppress(ProcessLookupError):
        while time.monotonic() < end_s:
            process.poll()
            os.killpg(process.pid, 0)
            time.sleep(LOOK_S / 10)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
