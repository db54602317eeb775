"""Options that several commands have, each declared once."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.base.errors import BadInputError

#: Default directory of records.
RESULTS = FilePath("results")
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
RecordsDir = Annotated[FilePath, typer.Option(metavar="DIR", help="Directory of the records.")]
ReportsDir = Annotated[
    FilePath, typer.Option(metavar="DIR", help="Directory of records and reports.")
]
LogDir = Annotated[
    FilePath, typer.Option(metavar="DIR", help="Directory of the guest's console log.")
]


def checked_cores(cores: int | None) -> int | None:
    """Return a number of cores as it was given; raises BadInputError below one."""
    if cores is not None and cores < 1:
        raise BadInputError(option="cores", given=cores, remedy="it must be 1 or more")
    return cores


Draws = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Draws of each run, of which median and range are shown: seeds that also move starts "
        "and hosts' sending (default: 5). 1: the run as it is.",
    ),
]
Cores = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        callback=checked_cores,
        help="How many runs at once (default: one on each core).",
    ),
]
RecordedRun = Annotated[FilePath, typer.Argument(metavar="RUN", help="Directory of a record.")]
LabKernel = Annotated[
    str | None,
    typer.Option(
        metavar="KERNEL", help="linux-source-7.3 or a Linux tree (default: the lab's kernel)."
    ),
]
OtherKernel = Annotated[
    str | None,
    typer.Option(metavar="KERNEL", help="Another kernel than the record's, as for farpath run."),
]
