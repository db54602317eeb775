"""``farpath list``: the records of a directory."""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.cli.paper import print_left_out
from farpath.cli.run_options import DEFAULT_OUT


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("list")(list_)


def list_(
    directory: Annotated[FilePath, typer.Argument(help="Directory of the records.")] = FilePath(
        DEFAULT_OUT
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List records, the latest first: date, path, stacks, what the flows got, fingerprint."""
    from farpath.report.tables.record_list import as_lines, list_records

    listed = list_records(directory)
    print_left_out(listed.problems)
    table = listed.table
    if as_json:
        rows = [dict(zip(table.columns, row, strict=True)) for row in table.data]
        print(json.dumps({"directory": str(directory), "records": rows}))
    else:
        print(as_lines(table.text))
