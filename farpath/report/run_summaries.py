"""The report of an experiment whose results are the summaries of its runs, all in one file."""

from __future__ import annotations

from pathlib import Path as FilePath
from types import ModuleType
from typing import Any

from farpath.report.report import Files, Report, figure_files, table_files
from farpath.report.table import as_text


def parts(results: ModuleType) -> tuple[str, ...]:
    """Return what a report holds: the results, and two directories."""
    return (results.FILE, "tables", "figures")


def report_text(results: ModuleType, of_runs: Any) -> str:
    """Return the tables of the results of some runs for a terminal."""
    return "\n".join(map(as_text, results.tables(of_runs)))


def write_report(results: ModuleType, of_runs: Any, folder: FilePath) -> None:
    """Write results, tables in every form and figures."""
    results.write(of_runs, folder / results.FILE)
    files: Files = {
        **table_files(results.tables(of_runs)),
        **figure_files(results.figures(of_runs)),
    }
    Report(files, report_text(results, of_runs), None).write(folder)
