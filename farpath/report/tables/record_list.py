"""The list of a directory's records: date, settings and throughput of each.

Those of programs and of services are in tables of their own: which client, and how it ended.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, TypeVar

from farpath.base.column import NOTHING, Column
from farpath.base.errors import BadInputError, FarpathError
from farpath.base.sizes import size_text
from farpath.metrics.catalogue import in_mbps
from farpath.metrics.run import summarise
from farpath.metrics.run_settings import further_text
from farpath.planning.path_options import CUSTOM
from farpath.record.program_record import (
    ProgramRecord,
    load_program_record,
    program_records_in,
)
from farpath.record.record import Record, load_record, records_in
from farpath.record.record_directory import short_fingerprint
from farpath.record.service_record import (
    ServiceRecord,
    load_service_record,
    service_records_in,
)
from farpath.report.table import Table, command_text
from farpath.spec.labels import stacks_label
from farpath.spec.path import Path

T = TypeVar("T")
Recorded = TypeVar("Recorded", Record, ProgramRecord, ServiceRecord)


@dataclass(frozen=True)
class RecordList:
    """A directory's records as tables, and a sentence for each that cannot be read.

    ``runs``: of runs. ``programs``: of programs. ``services``: of services. Each may have no rows.
    """

    runs: Table
    programs: Table
    services: Table
    problems: tuple[str, ...]


def list_records(directory: FilePath) -> RecordList:
    """List all records in a directory.

    Raises BadInputError for a directory that is missing or holds no record.
    """
    if not directory.is_dir():
        raise BadInputError(
            problem=f"{directory}: is no directory", remedy="give one that holds records"
        )
    problems: list[str] = []
    records = _loaded(load_record, records_in(directory), problems)
    programs = _loaded(load_program_record, program_records_in(directory), problems)
    services = _loaded(load_service_record, service_records_in(directory), problems)
    if not records and not programs and not services:
        reason = "; ".join(problems) or "give one that 'farpath run' wrote to"
        raise BadInputError(file=str(directory), problem="holds no record", remedy=reason)
    return RecordList(
        records_table(records, directory),
        programs_table(programs, directory),
        services_table(services, directory),
        tuple(problems),
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


def records_table(records: Iterable[Record], directory: FilePath) -> Table:
    """Return a row for each record, the latest first; those without a date are last."""
    return Table.of("records", f"Records in {directory}", _COLUMNS, _latest_first(records))


def programs_table(records: Iterable[ProgramRecord], directory: FilePath) -> Table:
    """Return a row for each record of programs, the latest first."""
    return Table.of("programs", f"Programs in {directory}", _OF_PROGRAMS, _latest_first(records))


def services_table(records: Iterable[ServiceRecord], directory: FilePath) -> Table:
    """Return a row for each record of services, the latest first."""
    return Table.of("services", f"Services in {directory}", _OF_SERVICES, _latest_first(records))


def _latest_first(records: Iterable[Recorded]) -> list[Recorded]:
    return sorted(records, key=lambda each: (each.recorded_at, each.directory.name), reverse=True)


def _of_path(key: str, heading: str, of: Callable[[Path], float]) -> Column[Any]:
    """Return the column of a number of the path, which is shown as short as possible."""
    return Column[Any](key, heading, lambda each: of(each.plan.path),
                       shown=lambda each: f"{of(each.plan.path):g}")  # fmt: skip


#: The columns with which tables of runs and of programs begin, and end.
_FIRST: tuple[Column[Any], ...] = (
    Column("recorded_at", "recorded (UTC)", lambda each: each.recorded_at,
           shown=lambda each: each.recorded_at.replace("T", " ").removesuffix("+00:00") or NOTHING),
    Column("path", "path", lambda each: each.plan.path.name,
           shown=lambda each: NOTHING if each.plan.path.name == CUSTOM else each.plan.path.name),
    _of_path("rtt_ms", "RTT ms", lambda path: path.rtt_ms),
    Column("rate_bps", "Mbit/s", lambda each: each.plan.path.rate_bps,
           shown=lambda each: f"{each.plan.path.rate_bps / 1e6:g}"),
    _of_path("loss", "loss", lambda path: path.loss),
)  # fmt: skip
_LAST: tuple[Column[Any], ...] = (
    Column("fingerprint", "fingerprint", lambda each: each.fingerprint,
           shown=lambda each: short_fingerprint(each.fingerprint)),
    Column("record", "record", lambda each: each.directory.name),
)  # fmt: skip
_SEED = Column[Any]("seed", "seed", lambda each: each.plan.seed)
_COLUMNS: tuple[Column[Any], ...] = (
    *_FIRST,
    Column("buffer_bytes", "buffer", lambda each: each.plan.path.buffer_bytes,
           shown=lambda each: size_text(each.plan.path.buffer_bytes)),
    Column("stacks", "stacks", lambda each: stacks_label(each.plan.schedule)),
    Column("duration_s", "s", lambda each: each.plan.schedule.duration_s,
           shown=lambda each: f"{each.plan.schedule.duration_s:g}"),
    Column("further", "further", lambda each: further_text(each.plan),
           shown=lambda each: further_text(each.plan) or NOTHING),
    _SEED,
    Column("throughput_mbps", "got Mbit/s",
           lambda each: in_mbps(summarise(each.samples, each.plan).mean_bps), 2),
    *_LAST,
)  # fmt: skip
_OF_PROGRAMS: tuple[Column[Any], ...] = (
    *_FIRST,
    Column("command", "client", lambda each: each.preset or shlex.join(each.programs.client),
           shown=lambda each: each.preset or command_text(each.programs.client)),
    Column("status", "status", lambda each: each.ending.status,
           shown=lambda each: str(each.ending.status)),
    Column("took_s", "took s", lambda each: each.ending.took_s, 3),
    _SEED,
    *_LAST,
)  # fmt: skip

_OF_SERVICES: tuple[Column[Any], ...] = (
    _FIRST[0],
    Column("file", "file", lambda each: each.data["request"]["file"]),
    Column("services", "services", lambda each: len(each.services.services)),
    Column("main", "main", lambda each: each.services.main),
    Column("status", "status", lambda each: each.ending.status,
           shown=lambda each: str(each.ending.status)),
    Column("took_s", "took s", lambda each: each.ending.took_s, 3),
    Column("faults", "faults", lambda each: len(each.services.faults)),
    _SEED,
    *_LAST,
)  # fmt: skip


def as_lines(table: Table) -> str:
    """Format a table as one line a row, however wide, for a terminal or ``grep``."""
    rows = [table.header, *table.lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines)
