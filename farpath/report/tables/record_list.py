"""The list of a directory's records: when each was made, of what, and what its flows got."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.analysis.metrics import summarise
from farpath.base.errors import BadInputError, FarpathError
from farpath.planning.path_options import CUSTOM
from farpath.record.record import Record, load_record, records_in
from farpath.report.tables.formats import CellValue, ResultTable
from farpath.report.tables.regions import NOTHING, TextTable, number
from farpath.spec.labels import stacks_label

#: The digits of a fingerprint that tell runs apart.
FINGERPRINT_DIGITS = 12
_COLUMNS = (
    "record", "recorded_at", "path", "rtt_ms", "rate_bps", "loss", "stacks", "duration_s", "seed",
    "throughput_bps", "fingerprint",
)  # fmt: skip
_HEADER = (
    "recorded (UTC)", "path", "RTT ms", "Mbit/s", "loss", "stacks", "s", "seed", "got Mbit/s",
    "fingerprint", "record",
)  # fmt: skip


@dataclass(frozen=True)
class RecordList:
    """A directory's records as a table, and a sentence for each that cannot be read."""

    table: ResultTable
    problems: tuple[str, ...]


def list_records(directory: FilePath) -> RecordList:
    """List all records in a directory.

    Raises BadInputError for a directory that is missing or holds no record.
    """
    if not directory.is_dir():
        raise BadInputError(f"{directory}: is no directory: give one that holds records")
    records, problems = [], []
    for record_dir in records_in(directory):
        try:
            records.append(load_record(record_dir))
        except FarpathError as error:
            problems.append(error.message)
    if not records:
        reason = "; ".join(problems) or "give one that 'farpath run' wrote to"
        raise BadInputError(f"{directory}: holds no record: {reason}")
    return RecordList(records_table(records, directory), tuple(problems))


def records_table(records: Iterable[Record], directory: FilePath) -> ResultTable:
    """Return a row for each record, the latest first; those without a date are last."""
    data = sorted(map(_row, records), key=lambda row: (str(row[1]), str(row[0])), reverse=True)
    rows = tuple(map(_texts, data))
    return ResultTable("records", TextTable(f"Records in {directory}", _HEADER, rows), _COLUMNS,
                       tuple(data))  # fmt: skip


def _row(record: Record) -> tuple[CellValue, ...]:
    plan = record.plan
    path, schedule = plan.path, plan.schedule
    return (
        record.directory.name, record.data["provenance"].get("recorded_at", ""), path.name,
        path.rtt_ms, path.rate_bps, path.loss, stacks_label(schedule), schedule.duration_s,
        plan.seed, summarise(record.samples, plan).mean_bps, record.fingerprint,
    )  # fmt: skip


def _texts(row: Sequence[CellValue]) -> tuple[str, ...]:
    name, date, path, rtt_ms, rate_bps, loss, stacks, duration_s, seed, got_bps, digest = row
    assert isinstance(rate_bps, int | float)
    assert isinstance(got_bps, int | float)
    return (
        str(date).replace("T", " ").removesuffix("+00:00") or NOTHING,
        NOTHING if path == CUSTOM else str(path),
        f"{rtt_ms:g}", f"{rate_bps / 1e6:g}", f"{loss:g}", str(stacks), f"{duration_s:g}",
        str(seed), number(got_bps / 1e6, 2), str(digest)[:FINGERPRINT_DIGITS], str(name),
    )  # fmt: skip


def as_lines(table: TextTable) -> str:
    """Format a table as one line a row, however wide, for a terminal or ``grep``."""
    rows = [table.header, *table.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines)
