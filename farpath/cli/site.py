"""``farpath site``: builds a site, or draws figures, from many records."""

from __future__ import annotations

import sys
from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.base.errors import BadInputError
from farpath.cli.logs import print_warnings
from farpath.cli.paper import CpuRecords, ViewOf, print_left_out

Records = Annotated[FilePath, typer.Option(metavar="DIR", help="Directory of the records.")]


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(site)


def site(
    records: Records,
    out: Annotated[
        FilePath | None,
        typer.Option(
            metavar="DIR",
            help="Directory of the site, or of the figures (default: site or figures).",
        ),
    ] = None,
    figures: Annotated[
        bool, typer.Option("--figures", help="Draw the figures alone, each as PNG and SVG.")
    ] = False,
    hatches: Annotated[
        bool,
        typer.Option("--hatches", help="Part flows of figures by hatches too, for print in grey."),
    ] = False,
    cpu_records: CpuRecords = None,
    held_out: Annotated[
        str,
        typer.Option(
            metavar="STACKS", help="Stacks that no path was fitted to: hstcp_2004,ltcp,..."
        ),
    ] = "",
    view: ViewOf = None,
) -> None:
    """Build a site of static pages from records; it opens offline and needs no server.

    Its index is a table of the runs; for a study, of its stacks against its paths. With
    --figures: each run over time and all together; for a study, the figures of its documents.
    """
    if figures:
        for name, value in (("cpu_records", cpu_records), ("held_out", held_out or None)):
            if value is not None:
                raise BadInputError(
                    option=name,
                    given=value,
                    problem="figures do not show it",
                    remedy="leave it out",
                )
        _draw_figures(records, out or FilePath("figures"), hatches, view)
    elif hatches:
        raise BadInputError(
            option="hatches", problem="a site has colours", remedy="leave it out, or add `figures`"
        )
    else:
        _build_site(records, out or FilePath("site"), cpu_records, held_out, view)


def _draw_figures(records: FilePath, out: FilePath, hatches: bool, view: str | None) -> None:
    from farpath.metrics.record_set import load_record_set
    from farpath.report.site.view import view_for

    loaded = load_record_set(records, view)
    record_view = view_for(loaded)
    for file in record_view.write_figures(out, hatches):
        print(file, flush=True)
    print_left_out(loaded.problems)
    print_warnings((*record_view.remarks, *record_view.missing))


def _build_site(
    records: FilePath, out: FilePath, cpu_records: FilePath | None, held_out: str, view: str | None
) -> None:
    from farpath.report.site.build import build_site

    held_out_stacks = [text for text in held_out.split(",") if text]
    built = build_site(records, out, _print_progress, cpu_records, held_out_stacks, view)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print_warnings(built.problems)
    print(f"{built.index}: runs {built.pages}, {built.bytes / 1e6:.1f} MB")


def _print_progress(step: str, count: int, total: int) -> None:
    """Print the progress of a step in one line of a terminal; elsewhere print nothing."""
    if sys.stderr.isatty():
        print(f"\r{step}: {count}{f' of {total}' if total else ''}  ", end="", file=sys.stderr)
