"""``farpath figures`` and ``farpath site``: draw figures, or build a site, from many records."""

from __future__ import annotations

import sys
from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.cli.logs import print_warnings
from farpath.cli.paper import CpuRecords, ViewOf, print_left_out

Records = Annotated[FilePath, typer.Option(help="Directory of the records.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(figures)
    app.command()(site)


def figures(
    records: Records,
    out: Annotated[FilePath, typer.Option(help="Directory of the figures.")] = FilePath("figures"),
    hatches: Annotated[
        bool, typer.Option("--hatches", help="Part flows by hatches too, for print in grey.")
    ] = False,
    view: ViewOf = None,
) -> None:
    """Draw each run over time and all together; for the 2005 study, the paper's figures 1 to 5.

    Each figure is written as PNG and SVG.
    """
    from farpath.analysis.record_set import load_record_set
    from farpath.report.site.view import view_for

    loaded = load_record_set(records, view)
    record_view = view_for(loaded)
    for file in record_view.write_figures(out, hatches):
        print(file, flush=True)
    print_left_out(loaded.problems)
    print_warnings((*record_view.remarks, *record_view.missing))


def _print_progress(step: str, count: int, total: int) -> None:
    """Print the progress of a step in one line of a terminal; elsewhere print nothing."""
    if sys.stderr.isatty():
        print(f"\r{step}: {count}{f' of {total}' if total else ''}  ", end="", file=sys.stderr)


def site(
    records: Records,
    out: Annotated[FilePath, typer.Option(help="Directory of the site.")] = FilePath("site"),
    cpu_records: CpuRecords = None,
    held_out: Annotated[
        str, typer.Option(help="Stacks that no path was fitted to: hstcp_2004,ltcp,...")
    ] = "",
    view: ViewOf = None,
) -> None:
    """Build a site of static pages from records; it opens offline and needs no server.

    Its index is a table of the runs; for the 2005 study, a table of stacks against paths.
    """
    from farpath.report.site.build import build_site
    from farpath.report.tables.agreement import parse_paper_stacks

    held_out_stacks = parse_paper_stacks([text for text in held_out.split(",") if text])
    built = build_site(records, out, _print_progress, cpu_records, held_out_stacks, view)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print_warnings(built.problems)
    print(f"{built.index}: runs {built.pages}, {built.bytes / 1e6:.1f} MB")
