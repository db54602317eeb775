"""The report of an ablation: its results as a file, tables in every form, and the figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath

from farpath.analysis.ablation import ABLATION_FILE, Ablation, write_ablation
from farpath.analysis.ablation import ablation_of as ablation_of_runs
from farpath.planning.experiment import Experiment
from farpath.report.figures.ablation import draw_ablation
from farpath.report.report import Files, Report, figure_files, table_files
from farpath.report.table import as_text
from farpath.report.tables.ablation import ablation_tables
from farpath.runs.status import RunStatus, recorded_runs

#: What a report holds: the results, and two directories.
PARTS = (ABLATION_FILE, "tables", "figures")


def ablation_of(experiment: Experiment, states: Sequence[RunStatus]) -> Ablation:
    """Return the ablation of those runs that have records."""
    return ablation_of_runs(experiment, recorded_runs(states))


def report_text(ablation: Ablation) -> str:
    """Return the tables for a terminal."""
    return "\n".join(map(as_text, ablation_tables(ablation)))


def write_report(ablation: Ablation, folder: FilePath) -> None:
    """Write results, tables in every form and the figure."""
    write_ablation(ablation, folder / ABLATION_FILE)
    files: Files = {
        **table_files(ablation_tables(ablation)),
        **figure_files([("ablation", draw_ablation(ablation))]),
    }
    Report(files, report_text(ablation), None).write(folder)
