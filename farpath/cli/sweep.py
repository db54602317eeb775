"""``farpath sweep``: every combination of some values of a run's options."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from farpath.base.errors import MachineLacksError
from farpath.cli.logs import print_paths
from farpath.cli.run import PAGE_COLUMNS
from farpath.cli.run_options import with_run_options
from farpath.cli.shared_options import RESULTS, AsJson, Cores, RecordsDir

if TYPE_CHECKING:
    from collections.abc import Mapping

    from farpath.report.tables.sweep_results import SweepResults

#: A comma between two values, but not one between words of a value (``fast:alpha=8,beta=2``), nor
#: before a change of it (``100Mbit,30s:20Mbit,repeat:60s``).
_SEPARATOR = re.compile(r",(?!\s*(?:[\w.]+=|[0-9.]+\s*[a-z]+\s*:|repeat\s*:))")
#: The option whose values may hold any comma: packets:7,8.
_UNSPLIT = "drop"
TABLE_FILE = "sweep.csv"
#: The folder of a sweep's table and figure among its records.
DEFAULT_REPORT = "sweep"


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(sweep)


@with_run_options
def sweep(
    seeds: Annotated[
        int, typer.Option(help="How many seeds each combination gets, from --seed on.")
    ] = 1,
    out: RecordsDir = RESULTS,
    report: Annotated[
        FilePath | None,
        typer.Option(help="Directory of the table and the figure (default: sweep in --out)."),
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Column of the table that the figure shows, as flow1_share.")
    ] = "throughput_mbps",
    cores: Cores = None,
    as_json: AsJson = False,
    **option_values: Any,
) -> None:
    """Make a run of each combination of values, as in --rtt=20ms,160ms --stack=cubic,bbr --seeds=3.

    Values are separated by commas. Runs that have a record are not made again: a sweep that was
    stopped continues with the same command.
    """
    from farpath.analysis.results import run_summary
    from farpath.base.files import require_directory
    from farpath.planning.option_names import typed_message
    from farpath.planning.request import RunRequest
    from farpath.report.tables.sweep_results import SweepResults, check_column
    from farpath.runs.make import make_runs
    from farpath.runs.progress import progress_printer
    from farpath.runs.run_set import product_set

    single, axes = split_options(option_values)
    planned = product_set(RunRequest(**single), axes, seeds)
    check_column(metric, planned)
    print_paths(run.plan.path for run in planned.runs)
    report = report or out / DEFAULT_REPORT
    require_directory(out)
    require_directory(report, "--report")
    outcome = make_runs(planned, out, cores, progress_printer("sweep"), measure=run_summary)
    if outcome.runs:
        results = SweepResults(outcome)
        files = _write(results, report, metric)
        _print(results, files, as_json)
    if outcome.failed:
        raise outcome.failed_error(typed_message)


def split_options(
    option_values: Mapping[str, str | None],
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Split options into fixed ones with their value and swept ones with their values."""
    values = {
        name: split_values(name, text) for name, text in option_values.items() if text is not None
    }
    single = {name: texts[0] for name, texts in values.items() if len(texts) == 1}
    return single, {name: texts for name, texts in values.items() if len(texts) > 1}


def split_values(name: str, text: str) -> tuple[str, ...]:
    """Return the values of an option that are separated by commas.

    >>> split_values("rtt", "20ms, 160ms"), split_values("stack", "cubic,fast:alpha=8,beta=2,bbr")
    (('20ms', '160ms'), ('cubic', 'fast:alpha=8,beta=2', 'bbr'))
    >>> split_values("rate", "100Mbit,30s:20Mbit,1Gbit")
    ('100Mbit,30s:20Mbit', '1Gbit')
    >>> split_values("drop", "packets:7,8")
    ('packets:7,8',)
    """
    if name == _UNSPLIT:
        return (text,)
    return tuple(part.strip() for part in _SEPARATOR.split(text))


def _write(results: SweepResults, report: FilePath, metric: str) -> tuple[FilePath, FilePath]:
    """Write the table of all runs and the figure of a column; return their files."""
    from farpath.base.files import write_text
    from farpath.report.figures.save import save
    from farpath.report.figures.sweep import draw_sweep
    from farpath.report.tables.formats import as_csv
    from farpath.report.tables.sweep import sweep_table

    table_file, figure_file = report / TABLE_FILE, report / f"{metric}.png"
    write_text(table_file, as_csv(sweep_table(results)))
    save(draw_sweep(results, metric), figure_file)
    return table_file, figure_file


def _print(results: SweepResults, files: tuple[FilePath, FilePath], as_json: bool) -> None:
    from rich.console import Console

    from farpath.planning.option_names import typed_message
    from farpath.report.tables.regions import fitting
    from farpath.report.tables.runs import run_tables
    from farpath.report.tables.sweep import shares_table, sweep_table

    outcome, table = results.outcome, sweep_table(results)
    table_file, figure_file = files
    if as_json:
        rows = [dict(zip(table.columns, row, strict=True)) for row in table.data]
        report = {"table": str(table_file), "figure": str(figure_file), "runs": rows}
        print(json.dumps({**report, "failures": outcome.failures(typed_message)}))
        return
    tables = [table]
    try:
        _runs, *over_seeds, _records = run_tables(results.records)
        if over_seeds:
            shares = shares_table(results)
            tables = [*over_seeds, *([shares] if shares else [])]
    except MachineLacksError as error:  # measured values need no statistics
        print(f"warning: {error.message}", file=sys.stderr)
    console = Console()
    if not console.is_terminal:
        console = Console(width=PAGE_COLUMNS)
    for each in tables:
        console.print(*fitting(each.text, console.width), sep="\n")
    cached = sum(swept.cached for swept in outcome.runs)
    print(f"runs        {len(outcome.runs)}, of which {cached} were recorded before")
    print(f"records     {outcome.directory}")
    print(f"table       {table_file}")
    print(f"figure      {figure_file}")
