"""Options that several commands have, each declared once."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated

import typer

#: Default directory of records.
RESULTS = FilePath("results")
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
RecordsDir = Annotated[FilePath, typer.Option(help="Directory of the records.")]
ReportsDir = Annotated[FilePath, typer.Option(help="Directory of records and reports.")]
LogDir = Annotated[FilePath, typer.Option(help="Directory of the guest's console log.")]
Cores = Annotated[
    int | None, typer.Option(min=1, help="How many runs at once (default: one on each core).")
]
Jobs = Annotated[int | None, typer.Option(help="Number of runs at once (default: all cores).")]
