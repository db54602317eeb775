"""``farpath list``, ``compare`` and ``export``: the records of a directory, and chosen ones."""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.base.errors import BadInputError
from farpath.cli.paper import print_left_out
from farpath.cli.shared_options import RESULTS, AsJson

PAGE_FILE, FIGURE_FILE = "comparison.html", "comparison.png"
#: The folder of a comparison, next to its records.
DEFAULT_COMPARISON = "comparison"


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("list")(list_)
    app.command()(compare)
    app.command()(export)


Records = Annotated[list[FilePath], typer.Argument(help="Directories of records.")]


def list_(
    directory: Annotated[FilePath, typer.Argument(help="Directory of the records.")] = RESULTS,
    as_json: AsJson = False,
) -> None:
    """List records, the latest first: date, path, stacks, throughput, fingerprint.

    Records of exec follow: date, path, client, status, duration; and those of up.
    """
    from farpath.report.tables.record_list import as_lines, list_records

    listed = list_records(directory)
    print_left_out(listed.problems)
    tables = {
        "records": listed.runs,
        "programs": listed.programs,
        "services": listed.services,
    }
    if as_json:
        rows = {name: table.objects for name, table in tables.items()}
        print(json.dumps({"directory": str(directory), **rows}))
    else:
        print("\n\n".join(as_lines(table) for table in tables.values() if table.data))


def compare(
    records: Records,
    out: Annotated[
        FilePath | None,
        typer.Option(
            metavar="DIR",
            help="Directory of the page and the figure (default: beside the records).",
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="OPTION", help="Setting that sorts the records first: rtt, buffer, seed ..."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Compare records: their differing settings, a table of results, and all curves in one page.

    They are sorted by the settings in which they differ; differences are from the first.
    """
    from farpath.metrics.record_metrics import metrics_of
    from farpath.record.record import load_record
    from farpath.report.figures.compared_curves import draw_comparison
    from farpath.report.html.comparison_page import render_comparison
    from farpath.report.report import Report, terminal_text
    from farpath.report.tables.comparison import compare as compare_records

    comparison = compare_records((load_record(directory) for directory in records), by)
    if out is None:
        out = records[0].parent / DEFAULT_COMPARISON
    lines = [
        comparison.title,
        *(f"{run.label}  ({run.record.directory})" for run in comparison.runs),
        *comparison.remarks,
    ]
    report = Report(
        {PAGE_FILE: render_comparison(comparison), FIGURE_FILE: draw_comparison(comparison)},
        "\n".join([*lines, terminal_text([comparison.results_table])]),
        {
            "title": comparison.title,
            "runs": [
                {
                    "differs_in": run.settings,
                    "record": str(run.record.directory),
                    "fingerprint": run.record.fingerprint,
                    "metrics": metrics_of(run.record),
                }
                for run in comparison.runs
            ],
        },
    )
    report.write(out)
    report.print(out, as_json)


def export(
    records: Records,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="Format: csv, flent or json.")
    ] = "csv",
    out: Annotated[
        FilePath, typer.Option(metavar="DIR", help="Directory of the files.")
    ] = FilePath("export"),
) -> None:
    """Write records in the format of other programs: CSV tables, Flent's data files, or JSON."""
    from farpath.record.record import load_record
    from farpath.report.export import export as export_record

    loaded = [load_record(directory) for directory in records]
    names = [record.directory.resolve().name for record in loaded]
    for name in names:
        if names.count(name) > 1:
            raise BadInputError(
                problem=f"{name}: two records have this name", remedy="export them one by one"
            )
    for record in loaded:
        for file in export_record(record, form, out):
            print(file)
