"""``farpath league``: every stack beside every other one, on the same paths."""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from farpath.cli.logs import print_paths
from farpath.cli.run_options import with_run_options
from farpath.cli.shared_options import RESULTS, AsJson, Cores, RecordsDir
from farpath.cli.sweep import split_options, split_values

if TYPE_CHECKING:
    from farpath.uses.league.measure import Encounter
    from farpath.uses.league.question import League

TABLE_FILE, FIGURE_FILE, PAGE_FILE = "league.csv", "league.png", "league.html"
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
        int, typer.Option(help="How many seeds each encounter gets, from --seed on.")
    ] = 1,
    out: RecordsDir = RESULTS,
    report: Annotated[
        FilePath | None,
        typer.Option(help="Directory of page, matrix and table (default: league in --out)."),
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
    from farpath.runs.progress import progress_printer
    from farpath.uses.league.measure import encounters, sides_of
    from farpath.uses.league.question import STACK, plan_league

    report = report or out / DEFAULT_REPORT
    require_directory(out)
    require_directory(report, "--report")
    default = RunRequest()
    if all(option_values[name] == getattr(default, name) for name in _LENGTHS):
        option_values["time"] = DEFAULT_TIME
    stacks = split_values(STACK, option_values.pop(STACK))
    single, axes = split_options(option_values)
    planned = plan_league(RunRequest(**single), stacks, axes, seeds)
    print_paths(run.plan.path for run in planned.run_set.runs)
    watch = progress_printer("league")
    outcome = make_runs(planned.run_set, out, cores, watch, measure=sides_of)
    if outcome.runs:
        found = encounters(outcome)
        plans = [made.run.plan for made in outcome.runs]
        draws = one_draw_notes(plans)
        _write(planned, found, report, (*_remarks(single), *(note.rstrip(".") for note in draws)))
        _print(planned, found, report, as_json)
        if not as_json:
            print(*draws, sep="\n", end="\n" if draws else "")
    if outcome.failed:
        raise outcome.failed_error(typed_message)


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


def _write(
    planned: League, found: tuple[Encounter, ...], report: FilePath, remarks: tuple[str, ...]
) -> None:
    """Write the table of all encounters, the matrix and the page."""
    from farpath.base.files import write_text
    from farpath.report.figures.save import save
    from farpath.report.tables.formats import as_csv
    from farpath.uses.league.figure import draw_league
    from farpath.uses.league.page import render_league
    from farpath.uses.league.table import encounters_table

    write_text(report / TABLE_FILE, as_csv(encounters_table(found)))
    save(draw_league(planned, found), report / FIGURE_FILE)
    write_text(report / PAGE_FILE, render_league(planned, found, remarks))


def _print(planned: League, found: tuple[Encounter, ...], report: FilePath, as_json: bool) -> None:
    from farpath.report.tables.formats import TEXT_COLUMNS, as_text
    from farpath.report.tables.regions import render, rich_table
    from farpath.uses.league.measure import by_conditions
    from farpath.uses.league.table import encounters_table, shares_table, standings_table

    if as_json:
        table = encounters_table(found)
        rows = [dict(zip(table.columns, row, strict=True)) for row in table.data]
        print(json.dumps({"report": str(report), "encounters": rows}))
        return
    for title, group in by_conditions(found).items():
        shares = shares_table(planned, group, title)
        print(render(rich_table(shares), width_columns=TEXT_COLUMNS), end="")
        print(as_text(standings_table(planned, group, title)), end="")
    for name in (PAGE_FILE, FIGURE_FILE, TABLE_FILE):
        print(f"{name.partition('.')[2]:<12}{report / name}")
