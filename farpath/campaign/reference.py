"""Shipping: an experiment's records as the project keeps them, small enough for a repository.

A shipped record is whole but for raw output, pages and figures, which all follow from
its samples; its tables are stored in less space and hold the same values.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.analysis.studies.measure import MEASURES_FILE, write_measures
from farpath.analysis.studies.registry import ANALYSES, measures_of
from farpath.base.errors import BadInputError
from farpath.base.files import remove_directory, replace_directory, user_errors
from farpath.base.locks import fresh_partial, remove_stale_partials
from farpath.campaign.status import (
    gather,
    images_for,
    recorded_runs,
    records_in,
    shipped_records,
    wanted_identity,
)
from farpath.planning.experiment import CPU, WHOLE, load_experiment
from farpath.record import trace_table
from farpath.record.record import COLUMNS, RECORD_FILE, Record, load_record

if TYPE_CHECKING:
    from farpath.campaign.snakemake import CampaignJob
    from farpath.campaign.status import RunStatus

SUMMARY_FILE = "summary.json"
TRACE_FILE = f"{trace_table.NAME}.parquet"
#: What shipped records may take together.
LIMIT_BYTES = 25_000_000
ZSTD_LEVEL = 19
#: How Parquet stores each kind of column smallest: the bytes of floats by their place,
#: whole numbers by their differences.
ENCODINGS = {"float": "BYTE_STREAM_SPLIT", "int": "DELTA_BINARY_PACKED", "str": "DELTA_BYTE_ARRAY"}


def slim_copy(record: Record, target: FilePath, more: dict[str, Any]) -> None:
    """Write a record small into an empty directory, with more said of what made it."""
    for name, columns in COLUMNS.items():
        record.samples.frame(name).to_parquet(
            target / f"{name}.parquet",
            index=False,
            compression="zstd",
            compression_level=ZSTD_LEVEL,
            use_dictionary=False,
            column_encoding={column: ENCODINGS[kind] for column, kind in columns.items()},
        )
    if record.trace is not None:
        shutil.copy(record.directory / TRACE_FILE, target)
    data = {**record.data, "provenance": {**record.data["provenance"], **more}}
    text = json.dumps(data, indent=1, sort_keys=True, allow_nan=False) + "\n"
    (target / RECORD_FILE).write_text(text, encoding="utf-8")


def publish(job: CampaignJob) -> list[str]:
    """Copy the records of a set of runs into the folders of their experiments; says what was done.

    A record there that the new one takes the place of is removed. A campaign may be
    shipped in pieces: runs without a record are counted, and BadInputError is raised only
    if none has one.
    """
    found = job.states()
    if not any(state.record for state in found):
        raise BadInputError(
            f"none of {len(found)} runs has a record: run 'farpath campaign', then this again"
        )
    if job.experiment.parts == (job.experiment.name,):
        return _ship_own(job, found)
    said = []
    for part in job.experiment.parts:
        of_part = dataclasses.replace(job, experiment=load_experiment(part, job.experiments))
        mine = [state for state in found if state.run.experiment == part]
        said += [f"{part}: {line}" for line in _ship_own(of_part, mine)]
    return said


def _ship_own(job: CampaignJob, found: Sequence[RunStatus]) -> list[str]:
    made = tuple(state for state in found if state.record is not None)
    if not made:
        return [f"none of {len(found)} runs has a record yet"]
    (folder,) = job.shipped
    with user_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        remove_stale_partials(folder)
        copied = [_ship_one(state, folder) for state in made]
        removed = _remove_replaced(made, folder)
        if job.which == WHOLE and job.experiment.name in ANALYSES:
            file = job.experiments / job.experiment.name / MEASURES_FILE
            write_measures(measures_of(recorded_runs(made)), file)
        elif job.which == WHOLE:
            _write_summary(job, made)
        elif job.which == CPU:
            _renew_summary(job)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    said = [f"{sum(copied)} records copied to {folder}, {len(made) - sum(copied)} were there"]
    said += [f"{len(found) - len(made)} runs have none yet"] if len(made) < len(found) else []
    said += [f"{len(removed)} of another kernel, image or setting removed"] if removed else []
    said += [f"{len(records_in(folder))} records take {size / 1e6:.1f} MB"]
    if size > LIMIT_BYTES:
        said.append(f"that is more than {LIMIT_BYTES / 1e6:g} MB: too much for a repository")
    return said


def _write_summary(job: CampaignJob, found: Sequence[RunStatus]) -> None:
    """The figures of the whole campaign in one file, which tables and claims read."""
    from farpath.analysis.results import load_results, write_figures

    folder = job.experiments / job.experiment.name
    with fresh_partial(folder) as partial:
        gather(found, partial / "records")
        cpu = shipped_records(job.experiment.name, job.experiments, CPU)
        campaign, problems = load_results(partial / "records", cpu if records_in(cpu) else None)
        assert not problems, problems
        write_figures(campaign, folder / SUMMARY_FILE)


def _renew_summary(job: CampaignJob) -> None:
    """Put the figures of the shipped runs in which CPU was counted into the summary there is."""
    from farpath.analysis.results import load_runs, read_figures, result_set_of, write_figures

    file = job.experiments / job.experiment.name / SUMMARY_FILE
    if file.is_file():
        counted, _ = load_runs(job.shipped[0])
        write_figures(result_set_of(read_figures(file).runs, counted), file)


def _ship_one(state: RunStatus, folder: FilePath) -> bool:
    """Whether a run's record was copied; else it was there."""
    assert state.record is not None
    if state.record.parent.resolve() == folder.resolve():
        return False
    record = load_record(state.record)
    more = {"source_sha256": wanted_identity(state.run, images_for([state.run]))}
    target = folder / record.directory.name
    with fresh_partial(folder) as partial:
        slim_copy(record, partial, more)
        load_record(partial)
        partial.chmod(0o755)
        replace_directory(partial, target)
    return True


def _settings_in(name: str) -> str:
    """A place's name without its digest."""
    return name.rpartition("-")[0]


def _remove_replaced(found: tuple[RunStatus, ...], folder: FilePath) -> list[FilePath]:
    kept = {state.record.name for state in found if state.record is not None}
    settings = {_settings_in(state.name) for state in found}
    replaced = [
        place
        for place in records_in(folder)
        if place.name not in kept and _settings_in(place.name) in settings
    ]
    for place in replaced:
        remove_directory(place)
    return replaced
