"""The commands that present a campaign: the paper's figures, and the results site."""

from __future__ import annotations

import sys
from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.cli.paper import CpuRecords, ViewOf, say_left_out, say_warnings

Records = Annotated[FilePath, typer.Option(help="The directory that holds the records.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(figures)
    app.command()(site)


def figures(
    records: Records,
    out: Annotated[FilePath, typer.Option(help="Where the figures go.")] = FilePath("figures"),
    colour_blind: Annotated[
        bool, typer.Option("--colour-blind", help="Colours and hatches that all can tell apart.")
    ] = False,
    view: ViewOf = None,
) -> None:
    """Draw each run over time and all together; of the 2005 study the paper's figures 1 to 5.

    Each as PNG and SVG.
    """
    from farpath.analysis.record_set import load_record_set
    from farpath.report.figures.style import COLOUR_BLIND, NORMAL
    from farpath.report.site.view import view_for

    loaded = load_record_set(records, view)
    shown = view_for(loaded)
    style = COLOUR_BLIND if colour_blind else NORMAL
    for file in shown.write_figures(out, (style,)):
        print(file, flush=True)
    say_left_out(loaded.problems)
    say_warnings((*shown.remarks, *shown.missing))


def _told(what: str, done: int, of: int) -> None:
    """Progress on a terminal alone, in one line."""
    if sys.stderr.isatty():
        print(f"\r{what}: {done}{f' of {of}' if of else ''}  ", end="", file=sys.stderr)


def site(
    records: Records,
    out: Annotated[FilePath, typer.Option(help="Where the site goes.")] = FilePath("site"),
    cpu_records: CpuRecords = None,
    held_out: Annotated[
        str, typer.Option(help="Stacks that no path was fitted to: hstcp_2004,ltcp,...")
    ] = "",
    view: ViewOf = None,
) -> None:
    """Make a site of static pages from records: it opens offline and needs no server.

    Its index is a table of the runs; of the 2005 study its stacks against its paths.
    """
    from farpath.report.site.build import build_site
    from farpath.report.tables.agreement import parse_paper_stacks

    held = parse_paper_stacks([text for text in held_out.split(",") if text])
    built = build_site(records, out, _told, cpu_records, held, view)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    say_warnings(built.problems)
    print(f"{built.index}: runs {built.pages}, {built.bytes / 1e6:.1f} MB")
