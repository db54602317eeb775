"""The verdict on a preset's record: a table, and its files and figure in the record."""

from __future__ import annotations

import json
from collections.abc import Sequence

from farpath.base.column import Column, number
from farpath.metrics.finding import Finding, verdict_of
from farpath.presets.registry import asked_preset
from farpath.record.program_record import VERDICT_DIR, ProgramRecord
from farpath.report.report import Files, Report, terminal_text
from farpath.report.table import Table
from farpath.runs.program_runs import ProgramResult, program_result

VERDICT_FILE = "verdict.json"
_COLUMNS = (
    Column[Finding]("quantity", "", lambda one: one.words),
    Column[Finding]("of", "of", lambda one: one.of),
    Column[Finding](
        "value",
        "measured",
        lambda one: one.value,
        shown=lambda one: number(one.value, one.decimals),
    ),
    Column[Finding]("", "bound", lambda one: one.bound_text),
    Column[Finding]("verdict", "verdict", lambda one: one.verdict),
    Column[Finding]("why", "why", lambda one: one.bound.why if one.bound else ""),
)


def verdict_table(title: str, findings: Sequence[Finding]) -> Table:
    """Return a row for each finding: the value, its bound, and whether it keeps it."""
    has_parts = any(one.of for one in findings)
    columns = [column for column in _COLUMNS if has_parts or column.key != "of"]
    return Table.of("verdict", title, columns, findings, verdict_of(findings))


def record_tables(record: ProgramRecord) -> tuple[Table, ...]:
    """Return the table of the verdict on a record; none for a user's own programs."""
    if not record.preset:
        return ()
    findings = asked_preset(record.preset).findings(record)
    return (verdict_table(f"Preset {record.preset}", findings),) if findings else ()


def write_verdict(record: ProgramRecord) -> tuple[ProgramResult, Report]:
    """Write the verdict and the figure into a preset's record; return its result and the report.

    There is neither if the client failed. Raises the errors of the preset's parser.
    """
    asked = asked_preset(record.preset)
    findings = asked.findings(record)
    result = program_result(record.directory, record.ending, findings)
    tables = record_tables(record)
    files: Files = {}
    if findings:
        data = [one.as_dict() for one in findings]
        picture = f"{asked.preset.name}.png"
        files = {
            VERDICT_FILE: json.dumps(data, indent=1) + "\n",
            picture: asked.preset.figure(asked.output(record)),
        }
    report = Report(files, terminal_text(tables))
    report.write(record.directory / VERDICT_DIR)
    return result, report


def with_verdict(record: ProgramRecord) -> ProgramResult:
    """Write the verdict into a preset's record, and return its result."""
    return write_verdict(record)[0]
