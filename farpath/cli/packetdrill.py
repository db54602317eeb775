"""``farpath packetdrill``: runs the kernel's packetdrill scripts inside the lab."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

import typer

from farpath.cli.shared_options import RESULTS, AsJson, LabKernel, LogDir

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
        typer.Argument(
            help="Directory of scripts: tools/testing/selftests/net/packetdrill of a Linux tree, "
            "or gtests/net/tcp of packetdrill's own."
        ),
    ],
    tool: Annotated[
        FilePath | None,
        typer.Option(metavar="FILE", help="Your packetdrill program (default: that in PATH)."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Names or folders of scripts: tcp_slow_start*,tcp_dsack_mult,sack.",
        ),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(
            metavar="FAMILIES",
            help="Address families: ipv4,ipv6,ipv4-mapped-ipv6 (default: all, as in packetdrill's "
            "run_all.py; the kernel's runner says them itself).",
        ),
    ] = None,
    define: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SYMBOL",
            help="A symbol of scripts, as in TFO_COOKIE=3021b9d889017eeb; repeatable.",
        ),
    ] = None,
    kernel: LabKernel = None,
    out: LogDir = RESULTS,
    as_json: AsJson = False,
) -> None:
    """Run packetdrill's scripts of TCP inside the lab, on the virtual clock.

    You have to build packetdrill, since Debian has no package of it. Exit status 1: a script fails.
    """
    from farpath.base.files import make_directory
    from farpath.lab.artifacts.kernels import lab_images, release_of
    from farpath.lab.packetdrill import (
        find_scripts,
        find_tool,
        orders_of,
        parse_defines,
        parse_families,
        run_scripts,
    )

    patterns = tuple(pattern for pattern in (only or "").split(",") if pattern)
    scripts = find_scripts(folder, patterns)
    families = parse_families(family, folder)
    orders = orders_of(scripts, families, parse_defines(define or [], folder))
    program = find_tool(tool)
    images = lab_images(kernel, LOG.info)
    tests = f", {len(orders)} tests" if families else ""
    LOG.info(f"packetdrill: {len(scripts)} scripts{tests} on Linux {release_of(images)}")
    make_directory(out)
    log = out / "packetdrill.console.log"
    results = run_scripts(
        images, program, folder, orders, log, _keep_quiet if as_json else _print_result
    )
    failed = [script for script in results if not script.passed]
    kind = "tests" if families else "scripts"
    if as_json:
        print(json.dumps({kind: [asdict(script) for script in results]}))
    else:
        print(f"{len(results)} {kind}: {len(results) - len(failed)} passed, {len(failed)} failed")
    if failed:
        raise typer.Exit(FAILED_STATUS)


def _keep_quiet(_script: Script) -> None:
    """Print nothing of a script: all results are one object."""


def _print_result(script: Script) -> None:
    """Print a line for a script, and its output if it failed."""
    print(f"{'ok    ' if script.passed else 'FAILED'} {script.name}", flush=True)
    if not script.passed:
        for line in script.output.strip().splitlines():
            print(f"  | {line}", flush=True)
