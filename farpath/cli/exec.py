"""``farpath exec``: runs programs of the user's on the hosts of a lab."""

from __future__ import annotations

import io
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Annotated, Any, TextIO

import typer

from farpath.base.errors import BadInputError
from farpath.cli.logs import print_warnings
from farpath.cli.run_options import DEFAULT_OUT, with_options
from farpath.planning import programs as planning

LOG = logging.getLogger(__name__)
DEFAULT_TIMEOUT = "600s"


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    # What follows the client's name are the client's options
    app.command("exec", context_settings={"allow_interspersed_args": False})(execute)


@with_options(planning.OPTIONS, planning.DEFAULTS, planning.HELPS)
def execute(
    command: Annotated[
        list[str], typer.Argument(help="The client and its arguments; it runs on host sender.")
    ],
    server: Annotated[
        list[str] | None,
        typer.Option(help="A server, which runs on host receiver: './server --port 80'; several."),
    ] = None,
    root: Annotated[
        str,
        typer.Option(help="What programs find: this machine's own files, or the lab's (lab)."),
    ] = "machine",
    image: Annotated[
        str | None,
        typer.Option(help="An image of yours instead: ./mine.tar, or receiver=./mine.tar."),
    ] = None,
    share: Annotated[
        FilePath | None,
        typer.Option(help="Working directory of the programs, which they may read (default: .)."),
    ] = None,
    collect: Annotated[
        FilePath | None,
        typer.Option(help="Directory in which programs may write files that come back."),
    ] = None,
    timeout: Annotated[
        str, typer.Option(help="Longest run of the client in virtual time; then status is 124.")
    ] = DEFAULT_TIMEOUT,
    env: Annotated[
        list[str] | None,
        typer.Option(help="A variable of the programs: NAME=value, or NAME to pass on yours."),
    ] = None,
    date: Annotated[
        str | None,
        typer.Option(help="What clocks show at the start, in UTC (default: 9 November 2004)."),
    ] = None,
    as_root: Annotated[
        bool, typer.Option("--as-root", help="Run the programs as root of the lab.")
    ] = False,
    memory: Annotated[str, typer.Option(help="Memory for programs and what they write.")] = "1GiB",
    out: Annotated[FilePath, typer.Option(help="Directory of the records.")] = FilePath(
        DEFAULT_OUT
    ),
    **option_values: Any,
) -> None:
    """Run any program over a path, in virtual time, with a server at its other end.

    The client's output is this command's, and so is its exit status. Both directions are alike.
    """
    from farpath.lab.program_roots import roots
    from farpath.lab.programs import run_programs
    from farpath.lab.user_parts import BuiltParts
    from farpath.planning import quantities
    from farpath.planning.plan_warnings import plan_warnings
    from farpath.planning.request import RunRequest
    from farpath.spec.programs import (
        CLIENT_HOST,
        SERVER_HOST,
        TIMED_OUT,
        TIMEOUT_S_RANGE,
        Programs,
    )
    from farpath.spec.settings import VIRTUAL

    planning.require_path(option_values)
    servers = tuple(planning.parse_command(text, "--server") for text in server or ())
    timeout_s = quantities.parse_duration_s(timeout, "--timeout", TIMEOUT_S_RANGE)
    program_bytes = quantities.parse_bytes(memory, "--memory", planning.MEMORY_BYTES_RANGE)
    plan = planning.program_plan(RunRequest(**option_values), BuiltParts(VIRTUAL), program_bytes)
    print_warnings(plan_warnings(plan))
    commands = {CLIENT_HOST: (tuple(command),), SERVER_HOST: servers}
    found = roots(root, image, share, env or (), commands)
    programs = Programs(
        client=tuple(command),
        servers=servers,
        places=found.places,
        user=0 if as_root else os.getuid(),
        group=0 if as_root else os.getgid(),
        timeout_s=timeout_s,
        share=str(found.share or ""),
        date_s=None if date is None else planning.parse_date_s(date),
        joined=_go_to_one_place(sys.stdout, sys.stderr),
        collect=_collected(collect, {place.directory for place in found.places.values()}),
    )
    outcome = run_programs(
        *(replace(plan, images=found.images), programs, out, found.share, collect),
        *(sys.stdout.buffer, sys.stderr.buffer),
    )
    ending = outcome.ending
    if ending.status == TIMED_OUT and ending.took_s >= timeout_s:
        LOG.info(f"the client did not end within {timeout_s:g} virtual s (--timeout): it was ended")
    LOG.info(
        f"exec: status {ending.status} after {ending.took_s:.3f} virtual s, record "
        f"{outcome.directory}, fingerprint {outcome.fingerprint[:12]}"
    )
    raise typer.Exit(ending.status)


def _go_to_one_place(stdout: TextIO, stderr: TextIO) -> bool:
    """Whether two streams are the same file or terminal, as with 2>&1."""
    try:
        return os.path.sameopenfile(stdout.fileno(), stderr.fileno())
    except io.UnsupportedOperation:
        return False


def _collected(directory: FilePath | None, working: set[str]) -> str:
    """Return the name of the directory that comes back; it is empty inside, so it holds no input.

    Raises BadInputError if programs work in it.
    """
    if directory is None:
        return ""
    path = os.path.abspath(directory)
    for place in working:
        if os.path.commonpath([path, place]) == path:
            raise BadInputError(
                f"--collect is '{directory}': it is empty at first, and programs work in {place}: "
                "give a directory of its own, as in --collect=out"
            )
    return path
