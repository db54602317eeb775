"""``farpath sweep``: every combination of some values of a run's options."""

from __future__ import annotations

import sys
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from farpath.base.errors import MachineLacksError
from farpath.cli.logs import print_paths
from farpath.cli.run_options import with_run_options
from farpath.cli.shared_options import RESULTS, AsJson, Cores, RecordsDir

if TYPE_CHECKING:
    from farpath.report.report import Report
    from farpath.report.tables.sweep_results import SweepResults

TABLE_FILE = "sweep.csv"
#: The folder of a sweep's table and figure among its records.
DEFAULT_REPORT = "sweep"


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(sweep)


@with_run_options
def sweep(
    seeds: Annotated[
        int, typer.Option(metavar="N", help="How many seeds each combination gets, from --seed on.")
    ] = 1,
    draws: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="How many draws each combination gets in place of seeds, from --seed on: seeds "
            "that also move starts and hosts' sending.",
        ),
    ] = 1,
    out: RecordsDir = RESULTS,
    report: Annotated[
        FilePath | None,
        typer.Option(
            metavar="DIR", help="Directory of the table and the figure (default: sweep in --out)."
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="Column of the table that the figure shows, as flow1_share."
        ),
    ] = "throughput_mbps",
    cores: Cores = None,
    as_json: AsJson = False,
    **option_values: Any,
) -> None:
    """Make a run of each combination of values, as in --rtt=20ms,160ms --stack=cubic,bbr --seeds=3.

    Values are separated by commas. Runs that have a record are not made again: a sweep that was
    stopped continues with the same command.
    """
    from farpath.base.files import require_directory
    from farpath.metrics.results import run_summary
    from farpath.planning.option_names import typed_message
    from farpath.planning.request import RunRequest
    from farpath.report.tables.sweep_results import SweepResults, check_column
    from farpath.runs.axes import split_options
    from farpath.runs.make import make_runs
    from farpath.runs.run_set import product_set
    from farpath.runs.run_set_progress import progress_printer

    single, axes = split_options(option_values)
    planned = product_set(RunRequest(**single), axes, seeds, draws=draws)
    check_column(metric, planned)
    print_paths(run.plan.path for run in planned.runs)
    report = report or out / DEFAULT_REPORT
    require_directory(out)
    require_directory(report, "report")
    outcome = make_runs(planned, out, cores, progress_printer("sweep"), measure=run_summary)
    if outcome.runs:
        made = _report(SweepResults(outcome), report, metric)
        made.write(report)
        made.print(report, as_json)
    if outcome.failed:
        raise outcome.failed_error(typed_message)


def _report(results: SweepResults, report: FilePath, metric: str) -> Report:
    """Return the tables of all runs and the figure of a column."""
    from farpath.planning.option_names import typed_message
    from farpath.report.figures.sweep_cells import draw_sweep
    from farpath.report.report import Report, terminal_text
    from farpath.report.table import as_csv
    from farpath.report.tables.run_table import run_tables
    from farpath.report.tables.sweep import shares_table, sweep_table

    outcome, table = results.outcome, sweep_table(results)
    tables = [table]
    try:
        _runs, *over_seeds, _records = run_tables(results.records)
        if over_seeds:
            shares = shares_table(results)
            tables = [*over_seeds, *([shares] if shares else [])]
    except MachineLacksError as error:  # measured values need no statistics
        print(f"warning: {error.message}", file=sys.stderr)
    cached = sum(made.cached for made in outcome.runs)
    data = {
        "table": str(report / TABLE_FILE),
        "figure": str(report / f"{metric}.png"),
        "runs": table.objects,
        "failures": outcome.failures(typed_message),
    }
    return Report(
        {TABLE_FILE: as_csv(table), f"{metric}.png": draw_sweep(results, metric)},
        terminal_text(tables),
        data,
        {
            "runs": f"{len(outcome.runs)}, of which {cached} were recorded before",
            "records": outcome.directory,
        },
    )
