"""``farpath tables`` and ``claims``: results of many records.

Heavy libraries are imported where they are used.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

import typer

from farpath.base.errors import BadInputError
from farpath.base.experiment_modules import default_experiment
from farpath.cli.logs import print_warnings
from farpath.cli.shared_options import AsJson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from farpath.metrics.results import ResultSet
    from farpath.report.table import Table

#: The experiment whose records and results are shown if no other is named.
DEFAULT_EXPERIMENT = default_experiment()
#: File with the results of the project's own campaign, in the experiment's folder.
SUMMARY, SUMMARY_FILE = "summary", "summary.json"

Records = Annotated[
    FilePath | None,
    typer.Option(
        metavar="DIR", help="Directory of records, or a summary's file (default: the project's)."
    ),
]
CpuRecords = Annotated[
    FilePath | None,
    typer.Option(
        metavar="DIR", help="Directory of records in which CPU was counted, for the numbers on CPU."
    ),
]
Measures = Annotated[
    FilePath | None,
    typer.Option(
        metavar="FILE", help="File measures.json of the companion experiments, or ablation.json."
    ),
]
OutDir = Annotated[
    FilePath | None,
    typer.Option(
        metavar="DIR",
        help="Directory in which a file for each table is written, instead of printing.",
    ),
]
ViewOf = Annotated[
    str | None,
    typer.Option(
        metavar="VIEW", help="Show records as study or as runs (default: decided by the records)."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(tables)
    app.command()(claims)


def tables(
    experiment: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Experiment; of others than the paper's, its shipped measures are used.",
        ),
    ] = DEFAULT_EXPERIMENT,
    records: Records = None,
    cpu_records: CpuRecords = None,
    measures: Measures = None,
    path: Annotated[
        str | None, typer.Option(metavar="NAME", help="Print tables 1 and 2 of this path only.")
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format: text, markdown, latex or csv; summary writes the results of all "
            "records into one file, summary.json, which --records of tables and claims reads.",
        ),
    ] = "text",
    held_out: Annotated[
        str | None,
        typer.Option(
            metavar="STACKS",
            help="Stacks that no path was fitted to: hstcp_2004,ltcp,... (default for the "
            "project's campaign: its own).",
        ),
    ] = None,
    view: ViewOf = None,
    out: OutDir = None,
    as_json: AsJson = False,
) -> None:
    """Print a table of runs; for records of a study, its own tables.

    Without --records, the tables compare the study's shipped records with the published numbers.
    With a companion experiment, they compare its measures with theory and published numbers;
    with an ablation, its mechanisms with each other and with published numbers.
    """
    from farpath.report.report import Report
    from farpath.report.table import FORMS, SUFFIXES, file_name

    if form not in (*FORMS, SUMMARY):
        raise BadInputError(
            option="format", given=form, remedy=f"it must be one of {', '.join((*FORMS, SUMMARY))}"
        )
    if as_json and (form == SUMMARY or out is not None):
        raise BadInputError(
            option="json",
            problem="it prints the values of all tables",
            remedy=f"leave it out beside `out` and `format={SUMMARY}`",
        )
    paper_options = {"records": records, "cpu-records": cpu_records, "path": path,
                     "held_out": held_out, "view": view}  # fmt: skip
    forbidden = {"measures": measures} if experiment == DEFAULT_EXPERIMENT else paper_options
    for option, value in forbidden.items():
        if value is not None:
            raise BadInputError(
                option=option,
                problem=f"it does not go with `experiment={experiment}`",
                remedy="leave one of them out",
            )
    if form == SUMMARY:
        for option, value in (("path", path), ("held_out", held_out), ("view", view)):
            if value is not None:
                raise BadInputError(
                    option=option, problem="a summary has all results", remedy="leave it out"
                )
        _write_summary(records, cpu_records, out)
        return
    if experiment != DEFAULT_EXPERIMENT:
        tables = _companion_tables(experiment, measures)
    else:
        tables = _tables(records, cpu_records, path, held_out, view)
    if as_json:
        print(json.dumps({table.name: table.objects for table in tables}))
        return
    if out is None:
        print("\n".join(FORMS[form](table) for table in tables), end="")
        return
    files = {file_name(table, SUFFIXES[form]): FORMS[form](table) for table in tables}
    Report(files).write(out)
    for name in files:
        print(out / name)


def _tables(
    records: FilePath | None,
    cpu_records: FilePath | None,
    path: str | None,
    held_out: str | None,
    view: str | None,
) -> Sequence[Table]:
    """Return the tables of a directory's records, or of a summary of a study."""
    from farpath.base.project import PROJECT
    from farpath.metrics.record_set import load_record_set
    from farpath.report.site.view import study_named, view_for
    from farpath.runs.experiment import load_experiment

    stacks = tuple(text for text in (held_out or "").split(",") if text)
    if records is not None and not records.is_file():
        loaded = load_record_set(records, view, cpu_records)
        record_view = view_for(loaded, stacks)
        print_left_out(loaded.problems)
        print_warnings(record_view.remarks)
        return record_view.tables(path)
    if view is not None:
        raise BadInputError(
            option="view", given=view, remedy="it goes with `records` and a directory of records"
        )
    campaign = _campaign(records, cpu_records)
    if held_out is None and records is None:
        stacks = load_experiment(DEFAULT_EXPERIMENT, PROJECT / "experiments").held_out
    return study_named(DEFAULT_EXPERIMENT).tables_of(campaign, path, stacks)


def print_left_out(problems: Iterable[str]) -> None:
    """Print a line on stderr for each record that is left out."""
    for problem in problems:
        print(f"left out: {problem}", file=sys.stderr)


def _companion_tables(name: str, measures: FilePath | None) -> Sequence[Table]:
    from farpath.base.project import EXPERIMENTS, experiment_folder
    from farpath.metrics.measures import read_measures
    from farpath.report.measures_report import experiment_titles
    from farpath.report.tables.measures_table import measure_tables
    from farpath.runs.analyses import campaign_command, results_module, shipped_measures
    from farpath.runs.experiment import load_experiment

    experiment = load_experiment(name)
    if results := results_module(experiment.name):
        file = measures or experiment_folder(name) / results.FILE
        tables: Sequence[Table] = results.tables(results.read(file))
        return tables
    parts = experiment.parts
    all_measures = shipped_measures() if measures is None else read_measures(measures)
    chosen = sorted(
        (measure for measure in all_measures if measure.experiment in parts),
        key=lambda measure: parts.index(measure.experiment),
    )
    if not chosen:
        source = "the project ships" if measures is None else f"{measures} has"
        raise BadInputError(
            option="experiment",
            given=name,
            problem=f"{source} no measures of it",
            remedy=f"run '{campaign_command(name)}' and give `measures=<its report>/measures.json`",
        )
    return measure_tables(chosen, experiment_titles(chosen, EXPERIMENTS))


def claims(
    records: Records = None,
    cpu_records: CpuRecords = None,
    measures: Measures = None,
    as_json: AsJson = False,
) -> None:
    """List the claims of studies' documents: whether each holds, and its numbers."""
    from farpath.metrics.measures import read_measures
    from farpath.metrics.studies import studies_in, titles
    from farpath.report.records_report import claims_data, claims_text
    from farpath.runs.claims import judge_all

    campaign = _campaign(records, cpu_records)
    if measures is None and not studies_in(campaign):
        raise BadInputError(
            option="records",
            given=str(records),
            problem=f"it has no run of {titles()}'s test and stacks, which the claims are about",
            remedy="give records of 'make paper', or none for those that the project ships; "
            "'farpath tables' shows any records",
        )
    if measures is not None:
        campaign = dataclasses.replace(campaign, measures=read_measures(measures))
    verdicts = judge_all(campaign)
    if as_json:
        print(json.dumps(claims_data(campaign, verdicts)))
    else:
        print(claims_text(campaign, verdicts), end="")


def _write_summary(
    records: FilePath | None, cpu_records: FilePath | None, out: FilePath | None
) -> None:
    """Write the results of all records to one file, which tables and claims read."""
    from farpath.metrics.results import write_figures

    if records is None:
        raise BadInputError(
            option="format", given=SUMMARY, problem="it needs records", remedy="give `records`"
        )
    campaign = _campaign(records, cpu_records)
    file = (out or FilePath()) / SUMMARY_FILE
    write_figures(campaign, file)
    print(f"{file}: {len(campaign.runs)} runs, {len(campaign.cpu_runs)} with CPU counted")


def _campaign(records: FilePath | None, cpu_records: FilePath | None) -> ResultSet:
    """Load the results of records or of a summary; print what is left out or mixed on stderr."""
    from farpath.base.project import PROJECT, experiment_folder
    from farpath.metrics.results import load_results, mixed, read_figures
    from farpath.runs.analyses import shipped_measures

    if records is None or records.is_file():
        if cpu_records is not None:
            raise BadInputError(
                option="cpu_records",
                given=str(cpu_records),
                problem="it goes with `records` and a directory of records",
                remedy="a summary has its own CPU records",
            )
        campaign = read_figures(
            records or experiment_folder(DEFAULT_EXPERIMENT, PROJECT / "experiments") / SUMMARY_FILE
        )
        if records is None:
            measures = shipped_measures(PROJECT / "experiments")
            campaign = dataclasses.replace(campaign, measures=measures)
    else:
        campaign, problems = load_results(records, cpu_records)
        print_left_out(problems)
    print_warnings(mixed(campaign))
    return campaign
