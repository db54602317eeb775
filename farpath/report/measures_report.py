"""The report on companion experiments: tables, figures and verdicts, in a directory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.project import EXPERIMENTS
from farpath.metrics.measures import MEASURES_FILE, Measure, write_measures
from farpath.metrics.results import ResultSet
from farpath.report.figures.experiments import figures
from farpath.report.report import Files, Report, figure_files, table_files
from farpath.report.table import Table
from farpath.report.table import as_text as table_as_text
from farpath.report.tables.measures_table import measure_tables
from farpath.runs.analyses import measures_of
from farpath.runs.claims import ClaimVerdict, as_text, judge_all
from farpath.runs.claims.chance import verdict_dicts
from farpath.runs.claims.claim_rules import experiment_measure_rules
from farpath.runs.experiment import RecordedRun, experiment_names, load_experiment
from farpath.runs.status import RunStatus, recorded_runs

#: The directories of a report.
PARTS = ("tables", "claims", "figures")


@dataclass(frozen=True, eq=False)
class MeasuresReport:
    """All runs that have records, their measures, and the verdicts on claims.

    ``experiments``: the folder of their experiments.
    """

    done: tuple[RecordedRun, ...]
    measures: tuple[Measure, ...]
    tables: tuple[Table, ...]
    verdicts: tuple[ClaimVerdict, ...]
    experiments: FilePath


def verdicts_of(
    measures: Sequence[Measure],
    experiments: FilePath = EXPERIMENTS,
    names: Iterable[str] | None = None,
) -> tuple[ClaimVerdict, ...]:
    """Return the verdicts on claims that measures of some experiments decide, or of all."""
    verdicts = judge_all(ResultSet((), measures=tuple(measures)), experiments)
    decided = {
        id_
        for name in (experiment_names(experiments) if names is None else names)
        for id_ in experiment_measure_rules(name, experiments)
    }
    return tuple(verdict for verdict in verdicts if verdict.id in decided)


def report_of(
    states: Sequence[RunStatus], experiments: FilePath, names: Sequence[str] | None = None
) -> MeasuresReport:
    """Return the report on some runs.

    ``experiments``: the folder of their experiments. ``names``: these in their order.
    """
    done = recorded_runs(states)
    measures = measures_of(done, names, experiments)
    titles = experiment_titles(measures, experiments)
    tables = measure_tables(measures, titles, experiments)
    verdicts = verdicts_of(measures, experiments, titles)
    return MeasuresReport(done, measures, tables, verdicts, experiments)


def experiment_titles(measures: Sequence[Measure], experiments: FilePath) -> dict[str, str]:
    """Return the titles of the experiments, by name."""
    names = dict.fromkeys(measure.experiment for measure in measures)
    return {name: load_experiment(name, experiments).title for name in names}


def report_text(report: MeasuresReport) -> str:
    """Return tables and verdicts for a terminal."""
    claims = [as_text(report.verdicts)] if report.verdicts else []
    return "\n".join([*map(table_as_text, report.tables), *claims])


def write_report(report: MeasuresReport, folder: FilePath) -> None:
    """Write measures, tables in every form, figures, and claims if there are any."""
    write_measures(report.measures, folder / MEASURES_FILE)
    claims: Files = {
        "claims/claims.txt": as_text(report.verdicts) + "\n",
        "claims/claims.json": json.dumps({"claims": verdict_dicts(report.verdicts)}) + "\n",
    }
    files: Files = {
        **table_files(report.tables),
        **(claims if report.verdicts else {}),
        **figure_files(figures(report.measures, report.done, report.experiments)),
    }
    Report(files, report_text(report), None).write(folder)
