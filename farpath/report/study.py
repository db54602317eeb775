"""Report: tables, figures and verdicts of companion experiments, in a directory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.analysis.claims import ClaimVerdict, as_text, judge_all
from farpath.analysis.claims.study_rules import COMPANION_RULES
from farpath.analysis.results import ResultSet
from farpath.analysis.studies.measure import MEASURES_FILE, Measure, RecordedRun, write_measures
from farpath.analysis.studies.registry import measures_of
from farpath.base.files import write_text
from farpath.campaign.status import RunStatus, recorded_runs
from farpath.planning.experiment import load_experiment
from farpath.report.figures.save import FORMATS, save
from farpath.report.figures.studies import figures
from farpath.report.tables.formats import FORMS, SUFFIXES, Sheet, file_name
from farpath.report.tables.formats import as_text as sheet_as_text
from farpath.report.tables.studies import sheets


@dataclass(frozen=True, eq=False)
class Report:
    """All runs that have records, what they measure, and what that says of the claims."""

    done: tuple[RecordedRun, ...]
    measures: tuple[Measure, ...]
    sheets: tuple[Sheet, ...]
    verdicts: tuple[ClaimVerdict, ...]


def verdicts_of(measures: Sequence[Measure]) -> tuple[ClaimVerdict, ...]:
    """The claims that measures alone can decide."""
    every = judge_all(ResultSet((), measures=tuple(measures)))
    return tuple(verdict for verdict in every if verdict.id in COMPANION_RULES)


def report_of(states: Sequence[RunStatus], experiments: FilePath) -> Report:
    """The report on some runs; ``experiments`` is the folder of theirs."""
    done = recorded_runs(states)
    measures = measures_of(done)
    titles = titles_of(measures, experiments)
    return Report(done, measures, sheets(measures, titles), verdicts_of(measures))


def titles_of(measures: Sequence[Measure], experiments: FilePath) -> dict[str, str]:
    """The experiments' titles, by name."""
    names = dict.fromkeys(measure.experiment for measure in measures)
    return {name: load_experiment(name, experiments).title for name in names}


def as_said(report: Report) -> str:
    """Tables and verdicts for a terminal."""
    return "\n".join([*map(sheet_as_text, report.sheets), as_text(report.verdicts)])


def write_report(report: Report, folder: FilePath) -> None:
    """Measures, tables in every form, claims and figures."""
    write_measures(report.measures, folder / MEASURES_FILE)
    for sheet in report.sheets:
        for form, text in FORMS.items():
            write_text(folder / "tables" / file_name(sheet, SUFFIXES[form]), text(sheet))
    write_text(folder / "claims" / "claims.txt", as_text(report.verdicts) + "\n")
    listed = [verdict.as_dict() for verdict in report.verdicts]
    write_text(folder / "claims" / "claims.json", json.dumps({"claims": listed}) + "\n")
    for name, figure in figures(report.measures, report.done):
        for kind in FORMATS:
            save(figure, folder / "figures" / f"{name}.{kind}")
