"""The command that runs packetdrill's scripts inside the lab."""

from __future__ import annotations

import logging
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from farpath.lab.packetdrill import Script

LOG = logging.getLogger(__name__)
FAILED_STATUS = 1


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(packetdrill)


def packetdrill(
    folder: Annotated[
        FilePath,
        typer.Argument(help="tools/testing/selftests/net/packetdrill of a Linux tree."),
    ],
    tool: Annotated[
        FilePath | None, typer.Option(help="Your packetdrill, if it is not in PATH.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Some scripts: tcp_slow_start*,tcp_dsack_mult.")
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(help="linux-source-7.3 or a Linux tree; the lab's own if absent."),
    ] = None,
    out: Annotated[FilePath, typer.Option(help="Where the guest's console goes.")] = FilePath(
        "results"
    ),
) -> None:
    """Run the kernel's own TCP scripts inside the lab, on the virtual clock.

    The tool is yours to build (Debian has no package of it). Exit status 1 if one fails.
    """
    from farpath.base.files import user_errors
    from farpath.lab.artifacts.images import find_images
    from farpath.lab.artifacts.kernels import images_of, release_of
    from farpath.lab.packetdrill import find_scripts, find_tool, run_scripts

    scripts = find_scripts(folder, tuple(one for one in (only or "").split(",") if one))
    program = find_tool(tool)
    images = find_images() if kernel is None else images_of(kernel, LOG.info)
    LOG.info(f"packetdrill: {len(scripts)} scripts on Linux {release_of(images)}")
    with user_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    found = run_scripts(images, program, folder, scripts, out / "packetdrill.console.log", _show)
    failed = [script for script in found if not script.passed]
    print(f"{len(found)} scripts: {len(found) - len(failed)} passed, {len(failed)} failed")
    if failed:
        raise typer.Exit(FAILED_STATUS)


def _show(script: Script) -> None:
    """A line for each, and what a failed one said."""
    print(f"{'ok    ' if script.passed else 'FAILED'} {script.name}", flush=True)
    if not script.passed:
        for line in script.said.strip().splitlines():
            print(f"  | {line}", flush=True)
