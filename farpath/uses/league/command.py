"""``farpath league``: every stack beside every other one, on the same paths."""

from __future__ import annotations

import os
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from farpath.cli.logs import print_paths
from farpath.cli.run_options import with_run_options
from farpath.cli.shared_options import RESULTS, AsJson, Cores, Draws, RecordsDir
from farpath.runs.axes import split_options, split_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from farpath.report.report import Report
    from farpath.uses.league.measure import Encounter
    from farpath.uses.league.question import League

TABLE_FILE, FIGURE_FILE, PAGE_FILE = "league.csv", "league.png", "league.html"
PAIRS_FILE = "pairs.csv"
#: How long both flows send, if neither TIME, REGION nor BYTES says it.
DEFAULT_TIME = "60s"
#: The folder of a league's files among its records.
DEFAULT_REPORT = "league"
_LENGTHS = ("time", "region", "bytes", "schedule")


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(league)


@with_run_options
def league(
    seeds: Annotated[
        int, typer.Option(metavar="N", help="How many seeds each encounter gets, from --seed on.")
    ] = 1,
    draws: Draws = None,
    out: RecordsDir = RESULTS,
    report: Annotated[
        FilePath | None,
        typer.Option(
            metavar="DIR", help="Directory of page, matrix and table (default: league in --out)."
        ),
    ] = None,
    cores: Cores = None,
    as_json: AsJson = False,
    **option_values: Any,
) -> None:
    """Run every stack beside every other one and itself, as in --stack=reno,cubic,bbr.

    Further options may have several values, as in --rtt=20ms,160ms: each combination is a league of
    its own. Runs that have a record are not made again.
    """
    from farpath.base.files import require_directory
    from farpath.metrics.one_draw import one_draw_notes
    from farpath.planning.option_names import typed_message
    from farpath.planning.request import RunRequest
    from farpath.runs.make import make_runs
    from farpath.runs.run_set_progress import progress_printer
    from farpath.uses.league.measure import alone, encounters, sides_of
    from farpath.uses.league.question import STACK, plan_league

    report = report or out / DEFAULT_REPORT
    require_directory(out)
    require_directory(report, "report")
    default = RunRequest()
    if all(option_values[name] == getattr(default, name) for name in _LENGTHS):
        option_values["time"] = DEFAULT_TIME
    stacks = split_values(STACK, option_values.pop(STACK))
    single, axes = split_options(option_values)
    planned = plan_league(RunRequest(**single), stacks, axes, seeds, draws)
    print_paths(run.plan.path for run in planned.run_set.runs)
    watch = progress_printer("league")
    outcome = make_runs(planned.run_set, out, cores, watch, measure=sides_of)
    if outcome.runs:
        found, solo = encounters(outcome), alone(outcome)
        notes = one_draw_notes([made.run.plan for made in outcome.runs])
        hrefs = {made.record.name: _href(made.record, report) for made in outcome.runs}
        made = _report(planned, found, solo, report, _remarks(single), notes, hrefs)
        made.write(report)
        made.print(report, as_json)
    if outcome.failed:
        raise outcome.failed_error(typed_message)


def _href(record: FilePath, report: FilePath) -> str:
    """Return the address of a run's page from the report, or of its record without a page."""
    from farpath.report.html.run_page import PAGE_FILE as RUN_PAGE_FILE

    page = record / RUN_PAGE_FILE
    place = page if page.is_file() else record
    return quote(os.path.relpath(place.resolve(), report.resolve()))


def _remarks(single: dict[str, str]) -> tuple[str, ...]:
    """Return the common options of all runs, as typed, in a sentence."""
    from farpath.base.options import options_of
    from farpath.planning.request import RunRequest

    default = RunRequest()
    given = [
        f"{option.variable}={single[option.name]}"
        for option in options_of(RunRequest)
        if option.name in single and single[option.name] != getattr(default, option.name)
    ]
    return (f"All runs have {', '.join(given)}",) if given else ()


def _report(
    planned: League,
    found: tuple[Encounter, ...],
    solo: tuple[Encounter, ...],
    report: FilePath,
    remarks: tuple[str, ...],
    notes: tuple[str, ...],
    hrefs: Mapping[str, str],
) -> Report:
    """Return the table of all encounters, the matrix and the page.

    ``solo``: the runs of stacks alone. ``notes``: on runs in which nothing is random. ``hrefs``:
    addresses of runs from the report, by the names of their records.
    """
    from farpath.report.report import Report
    from farpath.report.table import TEXT_COLUMNS, as_csv, as_text, render, rich_table
    from farpath.uses.league.conditions import conditions_of
    from farpath.uses.league.figure import draw_league
    from farpath.uses.league.page import render_league
    from farpath.uses.league.table import (
        encounters_table,
        pairs_table,
        shares_table,
        standings_table,
    )

    parts = conditions_of(found, solo)
    table, pairs = encounters_table(found), pairs_table(parts)
    texts = []
    for under in parts:
        shares = rich_table(shares_table(planned, under))
        texts += [render(shares, width_columns=TEXT_COLUMNS)]
        texts += [as_text(standings_table(planned, under))]
    page = render_league(planned, parts, (*remarks, *(note.rstrip(".") for note in notes)), hrefs)
    return Report(
        {
            PAGE_FILE: page,
            FIGURE_FILE: draw_league(planned, found),
            TABLE_FILE: as_csv(table),
            PAIRS_FILE: as_csv(pairs),
        },
        "".join([*texts, *(f"{note}\n" for note in notes)]),
        {
            "report": str(report),
            "encounters": table.objects,
            "pairs": pairs.objects,
        },
    )
