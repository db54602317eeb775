"""``farpath debug``: makes a recorded run again and opens gdb on it at a virtual instant."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

import typer

from farpath.base.errors import BadInputError
from farpath.base.locks import exclusive_lock
from farpath.base.project import cache_directory
from farpath.cli.shared_options import AsJson, OtherKernel, RecordedRun

if TYPE_CHECKING:
    from farpath.uses.debug.session import Ended

LOG = logging.getLogger(__name__)


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(debug)


def _where(metavar: str, help_: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(metavar=metavar, help=help_)
    return option


def debug(
    run: RecordedRun,
    at: Annotated[
        str | None,
        _where("TIME", "At an instant from the schedule's start; with an event: not before."),
    ] = None,
    break_: Annotated[
        str | None,
        typer.Option(
            "--break", metavar="FUNCTION[:FLOW]", help="In a function, of one flow if it is named."
        ),
    ] = None,
    packet: Annotated[
        str | None,
        _where("FLOW:N", "Where a flow sends its n-th packet with data; flow1:seq=N: that byte."),
    ] = None,
    mark: Annotated[bool, typer.Option("--mark", help="Where a queue marks a packet.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Where a queue drops a packet.")] = False,
    timeout: Annotated[
        bool, typer.Option("--timeout", help="Where a retransmission timer has expired.")
    ] = False,
    watch: Annotated[
        str | None,
        _where("FLOW.FIELD<N", "Where a field of a flow's struct tcp_sock becomes so."),
    ] = None,
    script: Annotated[
        FilePath | None,
        _where("FILE", "Run gdb's commands of a file there, a line each, then end."),
    ] = None,
    kernel: OtherKernel = None,
    names_only: Annotated[
        bool,
        typer.Option(
            "--names-only",
            help="Do not compile the kernel again: functions have names, but no source and types.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a run again, stop all its sites at an instant or event, and open gdb on them.

    The run is that of the record, packet by packet. Ctrl-D or Ctrl-C at the end leaves nothing.
    """
    from farpath.runs.again import repetition
    from farpath.uses.debug.session import Session, Terminal
    from farpath.uses.debug.stop import parse_stop
    from farpath.uses.debug.symbols import require_gdb

    program = require_gdb(shutil.which("gdb"))
    lines = None if script is None else script_lines(script)
    again = repetition(run, kernel=kernel, tell=LOG.info)
    flows = [flow.name for flow in again.planned.plan.schedule.all_flows]
    stop = parse_stop(
        {
            "at": at,
            "break": break_,
            "packet": packet,
            "watch": watch,
            "mark": mark,
            "drop": drop,
            "timeout": timeout,
        },
        flows,
    )
    with alone(run):
        session = Session(again, run, stop, Terminal(program, lines, as_json), LOG.info, names_only)
        ended = session.play()
    _report(ended, again.expected, run, as_json)
    if ended.status:
        raise typer.Exit(1)


def script_lines(script: FilePath) -> list[str]:
    """Return a script's lines; raise BadInputError for a file that cannot be read."""
    try:
        return script.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(
            option="script", given=str(script), problem=f"cannot be read: {error}"
        ) from error


def lock_of(run: FilePath) -> FilePath:
    """Return the lock file of a run's debugger, beside builds: a record may be read-only."""
    place = cache_directory() / "debug"
    place.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(str(run.resolve()).encode()).hexdigest()[:10]
    return place / f".{run.resolve().name}-{name}.lock"


@contextmanager
def alone(run: FilePath) -> Iterator[None]:
    """Be the only debugger of a run as long as the context lasts.

    Raises BadInputError with the process of another one.
    """
    with exclusive_lock(lock_of(run), "debugs this run", remedy="end it first (Ctrl-D)"):
        yield


def _report(ended: Ended, expected: str, run: FilePath, as_json: bool) -> None:
    """Print how the session ended: the state of the stop, and the run's fingerprint."""
    same = ended.fingerprint == expected if expected and ended.fingerprint else None
    if as_json:
        found = {"record": str(run), **ended.state}
        if ended.fingerprint:
            found |= {"fingerprint": ended.fingerprint, "as_recorded": same}
        print(json.dumps(found))
    elif ended.fingerprint:
        as_recorded = {True: ", as recorded", False: ", not as recorded", None: ""}[same]
        print(f"the run has ended; fingerprint {ended.fingerprint}{as_recorded}")
