"""The reference records that the project ships, in a compact form.

A reference record lacks only raw output, pages and figures, which all follow from its samples. Its
tables are compressed and hold the same values.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path as FilePath
from types import ModuleType
from typing import TYPE_CHECKING, Any

from farpath.base.errors import BadInputError
from farpath.base.files import apply_umask, remove_directory, replace_directory, user_errors
from farpath.base.locks import fresh_partial, remove_stale_partials
from farpath.base.project import experiment_folder
from farpath.metrics.measures import MEASURES_FILE, write_measures
from farpath.record.description import write_description
from farpath.record.identity import plan_identity
from farpath.record.queue_table import further_tables
from farpath.record.record import (
    COLUMNS,
    RECORD_FILE,
    Record,
    columns_of,
    load_record,
    records_in,
)
from farpath.runs.analyses import has_measures, measures_of, results_module
from farpath.runs.experiment import CPU, WHOLE, load_experiment
from farpath.runs.status import (
    begun_records,
    gather,
    images_for,
    recorded_runs,
    run_statuses,
    shipped_records,
    wanted_identity,
)

if TYPE_CHECKING:
    from farpath.runs.experiment import WantedRun
    from farpath.runs.job import CampaignJob
    from farpath.runs.status import RunStatus

SUMMARY_FILE = "summary.json"
#: The largest table that only some records have. A record with a larger one is not shipped if its
#: experiment has measures, which hold its results.
LARGEST_TABLE_BYTES = 2_000_000
#: The largest total size of an experiment's reference records.
LIMIT_BYTES = 25_000_000
ZSTD_LEVEL = 19
#: The Parquet encoding that stores each type of column in the least space: floats split by byte,
#: integers and texts as differences.
ENCODINGS = {"float": "BYTE_STREAM_SPLIT", "int": "DELTA_BINARY_PACKED", "str": "DELTA_BYTE_ARRAY"}


def write_compact_record(record: Record, target: FilePath, more_provenance: dict[str, Any]) -> None:
    """Write a record compactly into an empty directory, with ``more`` added to its provenance."""
    for name in COLUMNS:
        columns = columns_of(name, marks=record.plan.path.queue is not None)
        record.samples.frame(name).to_parquet(
            target / f"{name}.parquet",
            index=False,
            compression="zstd",
            compression_level=ZSTD_LEVEL,
            use_dictionary=False,
            column_encoding={
                column: ENCODINGS[column_type] for column, column_type in columns.items()
            },
        )
    for name in further_tables():
        if name in record.data:
            shutil.copy(record.directory / f"{name}.parquet", target)
    data = {**record.data, "provenance": {**record.data["provenance"], **more_provenance}}
    write_description(target / RECORD_FILE, data)


def publish(job: CampaignJob) -> list[str]:
    """Copy the records of a set of runs into their experiments' folders; return a report.

    A record that a new one replaces is removed. A campaign may be published in pieces: runs without
    a record are counted, and BadInputError is raised only if no run has one. Pieces of one that is
    renewed stay apart (``begun_records``) until all are there, so that tables never mix two.
    """
    states = job.states()
    if not any(state.record for state in states):
        raise BadInputError(
            problem=f"none of {len(states)} runs has a record",
            remedy="run 'farpath campaign', then this again",
        )
    if results := results_module(job.experiment.name, job.experiments):
        return _publish_summaries(job, states, results)
    if job.experiment.parts == (job.experiment.name,):
        return _publish_experiment(job, states)
    lines = []
    for part in job.experiment.parts:
        of_part = dataclasses.replace(
            job, experiment=load_experiment(part, job.experiments, part=job.experiment.part)
        )
        of_experiment = [state for state in states if state.run.experiment == part]
        lines += [f"{part}: {line}" for line in _publish_experiment(of_part, of_experiment)]
    return lines


def _publish_experiment(job: CampaignJob, states: Sequence[RunStatus]) -> list[str]:
    recorded = tuple(state for state in states if state.record is not None)
    if not recorded:
        return [f"none of {len(states)} runs has a record yet"]
    (folder,) = job.shipped
    with user_errors(folder):
        measured = job.which == WHOLE and has_measures(job.experiment.name, job.experiments)
        small = [state for state in recorded if not (measured and _is_large(state))]
        removed = _replaced(job, recorded, folder)
        begun = begun_records(job.experiment.name, job.experiments)
        if job.which == WHOLE and not measured and removed and len(recorded) < len(states):
            return [
                _copy_records(recorded, begun),
                f"{len(states) - len(recorded)} runs have none yet: when all have, they replace "
                "the older records",
            ]
        lines = [_copy_records(small, folder)]
        for record_dir in (*removed, *_records_of((state.run for state in recorded), begun)):
            remove_directory(record_dir)
        if begun.is_dir() and not records_in(begun):
            remove_directory(begun)
        if measured:
            file = experiment_folder(job.experiment.name, job.experiments) / MEASURES_FILE
            write_measures(measures_of(recorded_runs(recorded), experiments=job.experiments), file)
        elif job.which == WHOLE:
            _write_summary(job, recorded)
        elif job.which == CPU:
            _update_summary(job)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    if left_out := len(recorded) - len(small):
        lines.append(
            f"{left_out} with large tables left out: their measures are in {MEASURES_FILE}"
        )
    lines += (
        [f"{len(states) - len(recorded)} runs have none yet"] if len(recorded) < len(states) else []
    )
    lines += [f"{len(removed)} of another kernel, image or setting removed"] if removed else []
    of_runs = _records_of(_runs_kept_in(job, folder), folder)
    if obsolete := len(records_in(folder)) - len(of_runs):
        lines.append(
            f"{obsolete} are of no run of {job.experiment.name} as it is now, and left: remove "
            "them, or publish the runs that replace them"
        )
    lines += [f"{len(records_in(folder))} records take {size / 1e6:.1f} MB"]
    if size > LIMIT_BYTES:
        lines.append(f"that is more than {LIMIT_BYTES / 1e6:g} MB: too much for a repository")
    return lines


def _copy_records(states: Sequence[RunStatus], folder: FilePath) -> str:
    """Copy the records of runs into a folder; say how many were copied."""
    folder.mkdir(parents=True, exist_ok=True)
    remove_stale_partials(folder)
    copied = [_copy_record(state, folder) for state in states]
    return f"{sum(copied)} records copied to {folder}, {len(copied) - sum(copied)} were there"


def _records_of(runs: Iterable[WantedRun], folder: FilePath) -> list[FilePath]:
    """Return the records of a folder whose plans are those of runs."""
    plans = {plan_identity(run.plan) for run in runs}
    return [
        record_dir
        for record_dir in records_in(folder)
        if plan_identity(load_record(record_dir, verify=False).plan) in plans
    ]


def _publish_summaries(
    job: CampaignJob, states: Sequence[RunStatus], results: ModuleType
) -> list[str]:
    """Write the summaries of all runs into the experiment's folder; no records are shipped.

    Those of runs that have no record here, and had one before, are kept. Raises BadInputError if a
    summary that is there would be lost.
    """
    file = experiment_folder(job.experiment.name, job.experiments) / results.FILE
    recorded = recorded_runs(states)
    if file.is_file():
        try:
            runs = [state.run for state in states]
            of_runs = results.extended(results.read(file), job.experiment, runs, recorded)
        except BadInputError as error:
            raise BadInputError(
                problem=f"{file}: {error.message}, and would be lost: make the experiment's "
                "runs as they were, or remove the file first"
            ) from error
    else:
        of_runs = results.of_runs(job.experiment, recorded)
    with user_errors(file):
        results.write(of_runs, file)
    kept, missing = len(of_runs.runs) - len(recorded), len(states) - len(of_runs.runs)
    lines = [f"summaries of {len(recorded)} runs written to {file}"]
    lines += [f"{kept} that were there are kept"] if kept else []
    return [*lines, f"{missing} runs have none yet"] if missing else lines


def _write_summary(job: CampaignJob, states: Sequence[RunStatus]) -> None:
    """Write the summaries of the whole campaign to the file that tables and claims read."""
    from farpath.metrics.results import load_results, write_figures

    folder = experiment_folder(job.experiment.name, job.experiments)
    with fresh_partial(folder) as partial:
        gather(states, partial / "records")
        cpu = shipped_records(job.experiment.name, job.experiments, CPU)
        campaign, problems = load_results(partial / "records", cpu if records_in(cpu) else None)
        assert not problems, problems
        write_figures(campaign, folder / SUMMARY_FILE)


def _update_summary(job: CampaignJob) -> None:
    """Replace the CPU runs in the existing summary by the shipped ones."""
    from farpath.metrics.results import load_runs, read_figures, result_set_of, write_figures

    file = experiment_folder(job.experiment.name, job.experiments) / SUMMARY_FILE
    if file.is_file():
        cpu_runs, _ = load_runs(job.shipped[0])
        write_figures(result_set_of(read_figures(file).runs, cpu_runs), file)


def _is_large(state: RunStatus) -> bool:
    """Whether a run's record has a large table beside its samples."""
    assert state.record is not None
    files = (state.record / f"{name}.parquet" for name in further_tables())
    return any(file.exists() and file.stat().st_size > LARGEST_TABLE_BYTES for file in files)


def _copy_record(state: RunStatus, folder: FilePath) -> bool:
    """Copy a run's record unless it is there already; return whether it was copied."""
    assert state.record is not None
    if state.record.parent.resolve() == folder.resolve():
        return False
    record = load_record(state.record)
    more_provenance = {"source_sha256": wanted_identity(state.run, images_for([state.run]))}
    target = folder / record.directory.name
    with fresh_partial(folder) as partial:
        write_compact_record(record, partial, more_provenance)
        load_record(partial)
        apply_umask(partial)
        replace_directory(partial, target)
    return True


def _settings_in(name: str) -> str:
    """Return a record directory's name without its digest."""
    return name.rpartition("-")[0]


def _replaced(job: CampaignJob, recorded: Sequence[RunStatus], folder: FilePath) -> list[FilePath]:
    """Return the records of a folder that differ from a new one in build or settings alone.

    Those that count for any run of the experiment are kept: several of its runs may have one name,
    and each of its sets has records in the folder.
    """
    names = {state.record.name for state in recorded if state.record is not None}
    settings = {_settings_in(name) for name in names}
    replaced = [
        record_dir
        for record_dir in records_in(folder)
        if record_dir.name not in names and _settings_in(record_dir.name) in settings
    ]
    if replaced:
        anew = {plan_identity(state.run.plan) for state in recorded}
        kept_in = _runs_kept_in(job, folder)
        others = [run for run in kept_in if plan_identity(run.plan) not in anew]
        counted = {state.record for state in run_statuses(others, [folder])}
        replaced = [record_dir for record_dir in replaced if record_dir not in counted]
    return replaced


def _runs_kept_in(job: CampaignJob, folder: FilePath) -> tuple[WantedRun, ...]:
    """Return the runs of all sets of an experiment, in full, whose records a folder keeps."""
    name, experiments = job.experiment.name, job.experiments
    whole = load_experiment(name, experiments)
    sets = [each for each in whole.sets if shipped_records(name, experiments, each) == folder]
    runs = (run for each in sets for run in whole.runs(each))
    return tuple({plan_identity(run.plan): run for run in runs}.values())
