"""Records in the formats of other programs: CSV, JSON, and Flent's data files."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.errors import BadInputError
from farpath.base.files import write_bytes
from farpath.metrics.record_metrics import metrics_of
from farpath.record.record import COLUMNS
from farpath.report.flent import flent_data
from farpath.report.table import csv_text

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.record import Record


def tables_of(record: Record) -> Mapping[str, pd.DataFrame]:
    """Return all tables of a record by name; those of flows have each flow's stack too."""
    tables = {name: record.samples.frame(name) for name in COLUMNS}
    further = {"trace": record.trace, "short_flows": record.short_flows, "queues": record.queues}
    tables |= {name: frame for name, frame in further.items() if frame is not None}
    stacks = {flow.name: flow.stack for flow in record.plan.schedule.all_flows}
    for name in ("flows", "trace"):
        if name in tables:
            tables[name] = tables[name].assign(stack=tables[name]["flow"].map(stacks))
    return tables


def _as_csv(record: Record) -> Iterator[tuple[str, bytes]]:
    """Yield a file for each table; a missing value is an empty field."""
    for name, frame in tables_of(record).items():
        texts = {
            str(column): frame[column].map(csv_text, na_action="ignore")
            for column in frame.select_dtypes(exclude="number")
        }
        yield f"-{name}.csv", frame.assign(**texts).to_csv(index=False).encode()


def _as_json(record: Record) -> Iterator[tuple[str, bytes]]:
    """Yield one file: plan, provenance, metrics, and each table by its columns."""
    data = {
        "record": record.directory.name,
        "fingerprint": record.fingerprint,
        "plan": record.data["plan"],
        "provenance": record.data["provenance"],
        "metrics": metrics_of(record),
        "tables": {
            name: {column: _plain(frame[column].tolist()) for column in frame}
            for name, frame in tables_of(record).items()
        },
    }
    yield ".json", (json.dumps(data, allow_nan=False) + "\n").encode()


def _as_flent(record: Record) -> Iterator[tuple[str, bytes]]:
    """Yield Flent's data file; equal records give equal bytes."""
    text = json.dumps(flent_data(record), allow_nan=False, indent=2, sort_keys=True)
    yield ".flent.gz", gzip.compress(text.encode(), mtime=0)


def _plain(values: list[Any]) -> list[Any]:
    return [None if isinstance(v, float) and not math.isfinite(v) else v for v in values]


#: Functions that make a record's files in each format, as endings of their names and contents.
FORMATS: Mapping[str, Callable[[Record], Iterator[tuple[str, bytes]]]] = {
    "csv": _as_csv,
    "flent": _as_flent,
    "json": _as_json,
}


def export(record: Record, form: str, out: FilePath) -> Iterator[FilePath]:
    """Write a record's files in a format below ``out``, under its name; yield each when written.

    Raises BadInputError for an unknown format.
    """
    if form not in FORMATS:
        raise BadInputError(
            option="format", given=form, remedy=f"it must be one of {', '.join(FORMATS)}"
        )
    stem = record.directory.resolve().name
    for ending, contents in FORMATS[form](record):
        file = out / f"{stem}{ending}"
        write_bytes(file, contents)
        yield file
