"""``farpath diff``: the first packet in which two runs differ, and what TCP held then."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.cli.shared_options import AsJson, Cores

PAGE_FILE = "diff.html"
#: Where the page is written.
DEFAULT_OUT = FilePath("results") / "diff"
#: The exit status of runs that differ, as of diff(1).
DIFFERS_STATUS = 1


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(diff)


def diff(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A", help="Directory of a record, or options: 'rtt=20ms stack=cubic'."
        ),
    ],
    b: Annotated[
        str | None,
        typer.Argument(metavar="[B]", help="The other run (default: A on the kernel of --kernel)."),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(metavar="KERNEL", help="Kernel of B: 7.3, a Linux tree, or of one side."),
    ] = None,
    capture: Annotated[
        str | None,
        typer.Option(
            metavar="PLACES", help="Places that are compared, as of farpath run (default: all)."
        ),
    ] = None,
    out: Annotated[
        FilePath, typer.Option(metavar="DIR", help="Directory of the page.")
    ] = DEFAULT_OUT,
    cores: Cores = None,
    as_json: AsJson = False,
) -> None:
    """Find the first packet in which two runs differ, and what each TCP held then.

    Runs are made again with captures at every place, on the kernels of their records, and kept in
    the cache. Exit status 0: no packet differs; 1: one does.
    """
    from farpath.base.files import require_directory
    from farpath.report.report import Report
    from farpath.uses.diff.compare import as_dict, compare
    from farpath.uses.diff.page import render_diff
    from farpath.uses.diff.question import question
    from farpath.uses.diff.report import text

    require_directory(out)
    asked = question(a, b, kernel, capture)
    names = {"a": a, "b": b or f"{a} on {kernel}"}
    comparison = compare(asked, names, cores)
    files = {} if comparison.first is None else {PAGE_FILE: render_diff(comparison)}
    made = Report(files, text(comparison), as_dict(comparison))
    made.write(out)
    made.print(out, as_json)
    if comparison.first is not None:
        raise typer.Exit(DIFFERS_STATUS)
