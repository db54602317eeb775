"""The list of a directory's records: date, settings and throughput of each.

Those of programs are in a table of their own: which client, and how it ended.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TypeVar

from farpath.analysis.run_settings import further_text
from farpath.base.errors import BadInputError, FarpathError, on_one_line
from farpath.base.sizes import size_text
from farpath.metrics.column import NOTHING, number
from farpath.metrics.run import summarise
from farpath.planning.path_options import CUSTOM
from farpath.record.program_record import (
    ProgramRecord,
    load_program_record,
    program_records_in,
)
from farpath.record.record import Record, load_record, records_in
from farpath.report.tables.formats import CellValue, ResultTable
from farpath.report.tables.regions import TextTable
from farpath.spec.labels import stacks_label

T = TypeVar("T")
#: The digits of a fingerprint that tell runs apart.
FINGERPRINT_DIGITS = 12
_COLUMNS = (
    "record", "recorded_at", "path", "rtt_ms", "rate_bps", "loss", "stacks", "duration_s", "seed",
    "throughput_bps", "fingerprint", "buffer_bytes", "further",
)  # fmt: skip
_HEADER = (
    "recorded (UTC)", "path", "RTT ms", "Mbit/s", "loss", "buffer", "stacks", "s", "further",
    "seed", "got Mbit/s", "fingerprint", "record",
)  # fmt: skip
_PROGRAM_COLUMNS = (
    "record", "recorded_at", "path", "rtt_ms", "rate_bps", "loss", "command", "status", "took_s",
    "seed", "fingerprint",
)  # fmt: skip
_PROGRAM_HEADER = (
    "recorded (UTC)", "path", "RTT ms", "Mbit/s", "loss", "client", "status", "took s", "seed",
    "fingerprint", "record",
)  # fmt: skip
#: The most letters of a client's command in a table.
_COMMAND_LETTERS = 60


@dataclass(frozen=True)
class RecordList:
    """A directory's records as tables, and a sentence for each that cannot be read.

    ``runs``: of runs. ``programs``: of programs. Either may have no rows.
    """

    runs: ResultTable
    programs: ResultTable
    problems: tuple[str, ...]


def list_records(directory: FilePath) -> RecordList:
    """List all records in a directory.

    Raises BadInputError for a directory that is missing or holds no record.
    """
    if not directory.is_dir():
        raise BadInputError(f"{directory}: is no directory: give one that holds records")
    problems: list[str] = []
    records = _loaded(load_record, records_in(directory), problems)
    programs = _loaded(load_program_record, program_records_in(directory), problems)
    if not records and not programs:
        reason = "; ".join(problems) or "give one that 'farpath run' wrote to"
        raise BadInputError(f"{directory}: holds no record: {reason}")
    return RecordList(
        records_table(records, directory), programs_table(programs, directory), tuple(problems)
    )


def _loaded(
    load: Callable[[FilePath], T], record_dirs: Iterable[FilePath], problems: list[str]
) -> list[T]:
    """Load records; add a sentence to ``problems`` for each that cannot be read."""
    records = []
    for record_dir in record_dirs:
        try:
            records.append(load(record_dir))
        except FarpathError as error:
            problems.append(error.message)
    return records


def records_table(records: Iterable[Record], directory: FilePath) -> ResultTable:
    """Return a row for each record, the latest first; records without a date are last."""
    data = _latest_first(map(_row, records))
    rows = tuple(map(_texts, data))
    return ResultTable(
        "records", TextTable(f"Records in {directory}", _HEADER, rows), _COLUMNS, tuple(data)
    )


def _latest_first(rows: Iterable[tuple[CellValue, ...]]) -> list[tuple[CellValue, ...]]:
    """Sort rows that begin with a record's name and its date."""
    return sorted(rows, key=lambda row: (str(row[1]), str(row[0])), reverse=True)


def programs_table(records: Iterable[ProgramRecord], directory: FilePath) -> ResultTable:
    """Return a row for each record of programs, the latest first."""
    data = _latest_first(map(_program_row, records))
    rows = tuple(map(_program_texts, data))
    text = TextTable(f"Programs in {directory}", _PROGRAM_HEADER, rows)
    return ResultTable("programs", text, _PROGRAM_COLUMNS, tuple(data))


def _program_row(record: ProgramRecord) -> tuple[CellValue, ...]:
    path, ending = record.plan.path, record.ending
    return (
        record.directory.name, record.recorded_at, path.name, path.rtt_ms, path.rate_bps, path.loss,
        shlex.join(record.programs.client), ending.status, ending.took_s, record.plan.seed,
        record.fingerprint,
    )  # fmt: skip


def _program_texts(row: Sequence[CellValue]) -> tuple[str, ...]:
    name, date, path, rtt_ms, rate_bps, loss, command, status, took_s, seed, digest = row
    assert isinstance(rate_bps, int | float)
    return (
        *_path_texts(date, path, rtt_ms, rate_bps, loss), _shortened(on_one_line(str(command))),
        str(status), f"{took_s:.3f}", str(seed), str(digest)[:FINGERPRINT_DIGITS], str(name),
    )  # fmt: skip


def _shortened(command: str) -> str:
    return command if len(command) <= _COMMAND_LETTERS else f"{command[: _COMMAND_LETTERS - 3]}..."


def _path_texts(
    date: CellValue, path: CellValue, rtt_ms: CellValue, rate_bps: float, loss: CellValue
) -> tuple[str, ...]:
    """Return the cells that records of runs and of programs begin with."""
    return (
        str(date).replace("T", " ").removesuffix("+00:00") or NOTHING,
        NOTHING if path == CUSTOM else str(path),
        f"{rtt_ms:g}",
        f"{rate_bps / 1e6:g}",
        f"{loss:g}",
    )


def _row(record: Record) -> tuple[CellValue, ...]:
    plan = record.plan
    path, schedule = plan.path, plan.schedule
    return (
        record.directory.name, record.recorded_at, path.name,
        path.rtt_ms, path.rate_bps, path.loss, stacks_label(schedule), schedule.duration_s,
        plan.seed, summarise(record.samples, plan).mean_bps, record.fingerprint,
        path.buffer_bytes, further_text(plan),
    )  # fmt: skip


def _texts(row: Sequence[CellValue]) -> tuple[str, ...]:
    name, date, path, rtt_ms, rate_bps, loss, stacks, duration_s, seed, got_bps, digest, *more = row
    buffer_bytes, further = more
    assert isinstance(buffer_bytes, int)
    assert isinstance(rate_bps, int | float)
    assert isinstance(got_bps, int | float)
    return (
        *_path_texts(date, path, rtt_ms, rate_bps, loss), size_text(buffer_bytes), str(stacks),
        f"{duration_s:g}", str(further) or NOTHING, str(seed), number(got_bps / 1e6, 2),
        str(digest)[:FINGERPRINT_DIGITS], str(name),
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
