"""Programs in the lab: runs a user's client and servers in a guest, and makes their record."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import math
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import IO, Any

from farpath.base.errors import FarpathError, LabFailedError
from farpath.base.files import (
    remove_directory,
    require_unicode,
    safe_name,
    user_errors,
)
from farpath.lab import machine_files, uml
from farpath.lab.artifacts.images import Images, find_images
from farpath.lab.console import FEWER_FLOWS
from farpath.lab.exec.client_progress import ProgramProgress
from farpath.lab.forwarder import Forwarder
from farpath.lab.process import RawRun
from farpath.lab.provenance import images_identity, provenance
from farpath.lab.replacement import circumstances, whole_record
from farpath.lab.watchdog import OutOfTime, Patience
from farpath.mechanisms.mechanism import Output
from farpath.mechanisms.registry import examine
from farpath.record import idle_path
from farpath.record.program_record import (
    EXEC_FILE,
    Ending,
    ServerEnding,
    no_flows,
    write_program_record,
)
from farpath.record.replaced import FILES
from farpath.spec.hosts import PINGER
from farpath.spec.plan import Plan
from farpath.spec.programs import INPUT_FILE, TIMED_OUT, Programs
from farpath.spec.protocol import (
    COLLECTED_DIR,
    MACHINE_ROOT,
    OUTPUT_DIR,
    PROGRAMS_FILE,
    READABLE_DIR,
)
from farpath.spec.services import Services
from farpath.spec.sites import CLOCK_START_NS
from farpath.spec.wire import as_wire

#: A program may compute long, and a machine be slow; the guest tells each virtual second. A program
#: that hangs has written nothing to the console.
PATIENCE = Patience(
    real_s=600.0,
    cpu_s=60.0,
    calling_cpu_s=3600.0,
    free_cpu_s=20.0,
    computing="computing takes no virtual time, so that a program which waits in a loop without "
    "a system call waits for ever; let it sleep or poll",
    shows_console=False,
)


#: Note in a record of programs that see the machine's time stamp counter.
REAL_COUNTER = (
    "this machine forbids a virtual time stamp counter (prctl PR_SET_TSC): programs that read it, "
    "such as those of Go and Java, differ from run to run"
)
#: Note in a record of programs that computed for long without a system call.
FREED = (
    "programs computed for long without a system call, as in a loop that waits for another, and "
    "slept {count:,} times so that others run: where they do not wait, the next run may differ"
)
LOG = logging.getLogger(__name__)


class WallTimeoutError(FarpathError):
    """The programs have taken all the real time that they may take.

    ``output``: directory of their output so far. ``took_s``: the client's virtual time so far; None
    if it had not started yet.
    """

    exit_status = TIMED_OUT

    def __init__(self, message: str, output: FilePath, took_s: float | None) -> None:
        super().__init__(message)
        self.output = output
        self.took_s = took_s

    def __reduce__(self) -> tuple[type[WallTimeoutError], tuple[str, FilePath, float | None]]:
        """Return what a worker of a pool sends in its place."""
        return WallTimeoutError, (self.text, self.output, self.took_s)


@dataclass(frozen=True)
class ProgramOutcome:
    """The record of programs: its directory, how the client ended, and the fingerprint."""

    directory: FilePath
    ending: Ending
    fingerprint: str


@dataclass(frozen=True)
class _Session:
    """What programs are run with; fields as the parameters of ``run_programs``."""

    plan: Plan
    programs: Programs
    images: Images
    share: FilePath | None
    collect: FilePath | None
    stdout: IO[bytes]
    stderr: IO[bytes]
    watch: Callable[[dict[str, Any]], None]
    stdin: bytes
    wall_s: float
    label: str
    preset: str


def run_programs(
    plan: Plan,
    programs: Programs,
    out: FilePath,
    share: FilePath | None,
    collect: FilePath | None,
    stdout: IO[bytes],
    stderr: IO[bytes],
    watch: Callable[[dict[str, Any]], None] = lambda _event: None,
    images: Images | None = None,
    stdin: bytes = b"",
    wall_s: float = math.inf,
    label: str = "exec",
    preset: str = "",
) -> ProgramOutcome:
    """Run a client and its servers, make the record under ``out``, and return how it ended.

    ``share``: the directory that programs of other roots than the machine's may read. ``collect``:
    directory for the files that come back. ``stdout``, ``stderr``: of the client. ``watch``: called
    with every event. ``stdin``: the client's. ``wall_s``: their longest real time. ``label``:
    begins lines of progress. ``preset``: the preset that they are of, with its parameters, which
    the record keeps; empty for a user's own. Raises the errors of the lab and its checks; only the
    console's log is left then. Raises WallTimeoutError after ``wall_s``; the programs' output so
    far is left too.
    """
    images = images or find_images()
    require_unicode(str(out))
    session = _Session(
        *(plan, programs, images, share, collect, stdout, stderr, watch, stdin, wall_s, label),
        preset,
    )
    name = _record_name(plan, programs, images, preset)
    with whole_record(out, name, EXEC_FILE) as (partial, log):
        kept = out / f"{name}.output"
        remove_directory(kept)
        try:
            ending, stamp = _fill(partial, session, log, kept)
        except LabFailedError as error:
            raise with_remedy(error, programs.memory_bytes) from error
    return ProgramOutcome(out / name, ending, stamp)


def with_remedy(error: LabFailedError, program_bytes: int) -> LabFailedError:
    """Return a lab's error with the remedy that fits programs in place of flows.

    ``program_bytes``: memory of the programs. The kernel itself may run out of memory, by its
    sockets and other objects, which no group is charged with.
    """
    more = f"give more, as in --memory={more_memory(program_bytes)}"
    return LabFailedError(error.message.replace(FEWER_FLOWS, more), error.detail)


def more_memory(program_bytes: int) -> str:
    """Return three times as much memory, for a message.

    >>> more_memory(1 << 30), more_memory(64 << 20)
    ('3GiB', '1GiB')
    """
    return f"{-(-3 * program_bytes // (1 << 30))}GiB"


def _record_name(plan: Plan, programs: Programs, images: Images, preset: str) -> str:
    """Return the name of a record's directory: the same for the same request."""
    parts = [plan.as_dict(), as_wire(programs), images_identity(plan, images)]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:10]
    called = preset.partition(":")[0] or FilePath(programs.client[0]).name
    return f"exec-{plan.path.name}-{safe_name(called)}-{digest}"


def _fill(
    partial: FilePath, session: _Session, log: FilePath, kept: FilePath
) -> tuple[Ending, str]:
    """Run the programs and write their record; return how they ended, and the fingerprint.

    ``partial``: the record's directory. ``log``: of the guest's console. ``kept``: as for
    ``Guest``.
    """
    plan, programs, collect = session.plan, session.programs, session.collect
    idle: dict[str, idle_path.IdleRtt] = {}
    user_time: dict[str, Any] = {}
    progress = ProgramProgress(
        programs.timeout_s, lambda line: LOG.info(f"{session.label}: {line}")
    )
    endings: list[Ending] = []
    ended_s: dict[str, float] = {}

    def check_and_watch(event: dict[str, Any]) -> None:
        if event["event"] == "idle-pings":
            idle[PINGER] = idle_path.check_base_rtt(event["output"], plan)
        if event["event"] == "done":
            endings.append(_ending(event, ended_s))
            user_time.update(event["user_time"])
        if event["event"] == "server-ended":
            ended_s[event["label"]] = event["t_s"]
        progress.watch(event)
        session.watch(event)

    left_out = [partial.parent, *([collect] if collect is not None else [])]
    files = machine_files.digests(programs, left_out)
    streams = {"client.out": session.stdout, "client.err": session.stderr}
    guest = Guest(
        *(plan, session.images, programs, streams, log, kept, session.wall_s), called="programs"
    )

    def prepare(place: FilePath) -> None:
        if programs.input:
            (place / INPUT_FILE).write_bytes(session.stdin)
        if session.share is not None:
            (place / READABLE_DIR).symlink_to(session.share)

    with play(guest, check_and_watch, prepare, progress) as (place, raw):
        (ending,) = endings
        if ending.status == TIMED_OUT and (loop := progress.loop()):
            LOG.info(f"{session.label}: {loop}")
        warnings = [*raw.warnings, *idle_path.idle_warnings(idle)]
        for warning in idle_path.idle_warnings(idle):
            LOG.warning(warning)
        for warning in time_warnings(user_time):
            warnings.append(warning)
            LOG.warning(warning)
        if collect is not None:
            _bring_back(place / COLLECTED_DIR, collect)
        output = Output(plan, raw.raw, raw.readback, no_flows(), ended_s=ending.took_s)
        found = examine(output)
        for warning in found.warnings:
            LOG.warning(warning)
        stamp = write_program_record(
            partial,
            plan,
            programs,
            ending,
            output=place / OUTPUT_DIR,
            collected=place / COLLECTED_DIR,
            raw_dir=raw.raw,
            provenance={**provenance(session.images, plan), FILES: files, **circumstances(raw)},
            readback={
                **raw.readback,
                **idle_path.idle_rtts(idle),
                "user_time": user_time,
                **found.readback,
            },
            warnings=[*warnings, *found.warnings],
            parts=found.parts,
            preset=session.preset,
        )
    return ending, stamp


def time_warnings(user_time: Mapping[str, Any]) -> Iterator[str]:
    """Yield the warnings of programs' time, by what the guests tell of it."""
    if not user_time["tsc_virtual"]:
        yield REAL_COUNTER
    if count := user_time.get("freed", 0):
        yield FREED.format(count=count)


def _ending(event: dict[str, Any], ended_s: dict[str, float]) -> Ending:
    """Return how the programs ended; ``ended_s``: times at which servers ended by themselves."""
    servers = tuple(
        ServerEnding(label, status, ended_s.get(label))
        for label, status in event["servers"].items()
    )
    return Ending(event["status"], event["took_s"], servers, event["killed_for_memory"])


@dataclass(frozen=True)
class Guest:
    """A guest with programs of a user's, as it is played.

    ``asked``: the programs, as the guest reads them. ``streams``: where the output of programs goes
    as it appears, by the names of its files. ``wall_s``: longest real time. ``kept``: directory of
    the output if the programs take longer. ``called``: the programs, in messages.
    ``clock_start_ns``: what the lab's clocks show at their start.
    """

    plan: Plan
    images: Images
    asked: Programs | Services
    streams: Mapping[str, IO[bytes]]
    log: FilePath
    kept: FilePath
    wall_s: float
    called: str
    clock_start_ns: int = CLOCK_START_NS


def put_programs(place: FilePath, asked: Programs | Services) -> None:
    """Put programs and this machine's root into a guest's shared directory."""
    (place / PROGRAMS_FILE).write_text(json.dumps(as_wire(asked)))
    (place / MACHINE_ROOT).symlink_to("/")


@contextmanager
def play(
    guest: Guest,
    watch: Callable[[dict[str, Any]], None],
    prepare: Callable[[FilePath], None],
    progress: ProgramProgress | None = None,
) -> Iterator[tuple[FilePath, RawRun]]:
    """Run the guest; yield the shared directory and the lab's raw output, as long as they exist.

    ``prepare``: called with the shared directory, which has what every guest with programs needs.
    Raises WallTimeoutError, which says the ``progress``.
    """
    places: list[FilePath] = []

    @contextmanager
    def beside(place: FilePath) -> Iterator[None]:
        places.append(place)
        put_programs(place, guest.asked)
        output = place / OUTPUT_DIR
        output.mkdir()
        prepare(place)
        try:
            with Forwarder({output / name: stream for name, stream in guest.streams.items()}):
                yield
        except OutOfTime as error:
            shutil.copytree(output, guest.kept)
            how_far = f" ({progress.text()})" if progress else ""
            raise WallTimeoutError(
                f"the {guest.called} did not end within {guest.wall_s:g} s of real time "
                f"(--wall-timeout), and were ended{how_far}; their output so far is in "
                f"{guest.kept}, the lab's console in {guest.log}",
                guest.kept,
                progress.took_s if progress else None,
            ) from error

    patience = dataclasses.replace(PATIENCE, wall_s=guest.wall_s)
    with uml.play(
        *(guest.plan, guest.images, guest.log, watch, patience, beside),
        clock_start_ns=guest.clock_start_ns,
    ) as raw:
        yield places[0], raw


def _bring_back(collected: FilePath, target: FilePath) -> None:
    """Copy regular files that come back, and nothing else, to the user's directory."""
    with user_errors(target):
        target.mkdir(parents=True, exist_ok=True)
        if collected.is_dir():
            shutil.copytree(collected, target, dirs_exist_ok=True, copy_function=shutil.copyfile)
