"""The commands that present a campaign: the paper's figures, and the results site."""

from __future__ import annotations

import sys
from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.commands.paper import CpuRecords

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
) -> None:
    """Draw the paper's figures 1 to 5 from records, as PNG and SVG."""
    from farpath.campaign import load_campaign, mixed
    from farpath.figures.paper import missing_figures, write_figures
    from farpath.figures.style import COLOUR_BLIND, NORMAL

    campaign, problems = load_campaign(records)
    style = COLOUR_BLIND if colour_blind else NORMAL
    for file in write_figures(campaign, records, out, (style,)):
        print(file)
    for sentence in (*problems, *mixed(campaign), *missing_figures(campaign)):
        print(f"warning: {sentence}", file=sys.stderr)


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
) -> None:
    """Make a site of static pages from records: it opens offline and needs no server."""
    from farpath.agreement import known_stacks
    from farpath.site.build import build_site

    held = known_stacks([text for text in held_out.split(",") if text])
    built = build_site(records, out, _told, cpu_records, held)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    for sentence in built.problems:
        print(f"warning: {sentence}", file=sys.stderr)
    print(f"{built.index}: runs {built.pages}, {built.bytes / 1e6:.1f} MB")
