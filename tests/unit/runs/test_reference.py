"""Shipped records: smaller, and of the same samples."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path as FilePath

import pytest

from experiments.ablation.analysis import ABLATION, ABLATION_FILE, read_ablation
from experiments.seven_regions.selection import EXPERIMENT as PAPER
from farpath.base.errors import BadInputError
from farpath.record.identity import plan_identity
from farpath.record.record import Record, load_record, records_in
from farpath.runs import job as jobs
from farpath.runs import reference
from farpath.runs.experiment import (
    CPU,
    QUICK,
    WHOLE,
    WantedRun,
    load_experiment,
)
from farpath.runs.job import CampaignJob
from farpath.runs.reference import publish, write_compact_record
from farpath.runs.status import RunStatus, begun_records
from tests.support.campaigns import write_seven_regions


def test_a_shipped_record_has_the_same_samples_in_less_space(
    record: Record, tmp_path: FilePath
) -> None:
    target = tmp_path / "slim"
    target.mkdir()
    write_compact_record(record, target, {"source_sha256": "told"})
    copy = load_record(target)
    assert copy.fingerprint == record.fingerprint
    assert copy.data["provenance"] == {**record.data["provenance"], "source_sha256": "told"}
    assert copy.data["plan"] == record.data["plan"]
    assert not (target / "raw").exists()
    sizes = [
        sum(file.stat().st_size for file in place.glob("*.parquet"))
        for place in (target, record.directory)
    ]
    assert sizes[0] < sizes[1]


def test_of_an_ablation_the_summaries_are_shipped_and_not_the_records(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = load_experiment(ABLATION).runs(QUICK)[:2]
    (tmp_path / ABLATION).mkdir()
    (tmp_path / ABLATION / "results.py").write_text("from experiments.ablation.results import *\n")
    made = [
        write_seven_regions(
            tmp_path / "records" / str(index), run.plan.stacks[0].label, path=run.plan.path
        )
        for index, run in enumerate(runs)
    ]
    states = [
        RunStatus(run, record.directory.name, record.directory)
        for run, record in zip(runs, made, strict=True)
    ]
    unmade = RunStatus(runs[0], "unmade", None)
    monkeypatch.setattr(jobs, "run_statuses", lambda _runs, _directories: (*states, unmade))
    job = CampaignJob(load_experiment(ABLATION), QUICK, tmp_path / "records", tmp_path)
    file = tmp_path / ABLATION / ABLATION_FILE
    assert publish(job) == [f"summaries of 2 runs written to {file}", "1 runs have none yet"]
    assert len(read_ablation(file).runs) == 2
    assert {each.name for each in file.parent.glob("[!_]*")} == {ABLATION_FILE, "results.py"}

    # The runs made now are added to those of before
    new = RunStatus(load_experiment(ABLATION).runs(QUICK)[2], "new", made[0].directory)
    missing = [RunStatus(run, "gone", None) for run in runs]
    monkeypatch.setattr(jobs, "run_statuses", lambda _runs, _directories: (new, *missing))
    assert publish(job) == [f"summaries of 1 runs written to {file}", "2 that were there are kept"]
    assert len(read_ablation(file).runs) == 3

    # Of other regions they are not
    short = dataclasses.replace(job, experiment=load_experiment(ABLATION), which=WHOLE)
    monkeypatch.setattr(jobs, "run_statuses", lambda _runs, _directories: tuple(states))
    whole = load_experiment(ABLATION).runs()[:2]
    states = [dataclasses.replace(state, run=run) for state, run in zip(states, whole, strict=True)]
    with pytest.raises(BadInputError, match="3 of its runs are none of these 2"):
        publish(short)
    assert len(read_ablation(file).runs) == 3


def recorded(job: CampaignJob, tmp_path: FilePath, digest: str = "new") -> RunStatus:
    """The state of a job's first run, with a record in tmp_path/made."""
    run = job.runs[0]
    name = f"{run.plan.path.name}-seed1"
    made = write_seven_regions(tmp_path / "made" / f"{name}-{digest}", path=run.plan.path)
    return RunStatus(dataclasses.replace(run, plan=made.plan), name, made.directory)


@pytest.fixture
def only_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish records of the paper's experiment without a lab's images and without a summary."""
    monkeypatch.setattr(reference, "wanted_identity", lambda _run, _images: "told")
    monkeypatch.setattr(reference, "images_for", lambda _runs: None)
    monkeypatch.setattr(reference, "run_statuses", lambda _runs, _folders: ())
    monkeypatch.setattr(reference, "load_experiment", lambda *_args: load_experiment(PAPER))
    monkeypatch.setattr(reference, "_write_summary", lambda _job, _recorded: None)
    monkeypatch.setattr(reference, "_update_summary", lambda _job: None)


@pytest.mark.usefixtures("only_records")
@pytest.mark.parametrize("which", [CPU, WHOLE])
def test_a_new_record_takes_the_place_of_one_whose_name_has_another_digest(
    tmp_path: FilePath, which: str
) -> None:
    job = CampaignJob(load_experiment(PAPER), which, tmp_path, tmp_path)
    state = recorded(job, tmp_path)
    (folder,) = job.shipped
    for name in (f"{state.name}-old", "elsewhere-seed1-old"):
        write_seven_regions(folder / name, path=state.run.plan.path)
    lines = reference._publish_experiment(job, (state,))
    assert "1 of another kernel, image or setting removed" in lines
    kept = {each.name for each in records_in(folder)}
    assert kept == {f"{state.name}-new", "elsewhere-seed1-old"}
    # Both are of no run: synthetic records have other settings than any
    assert any(line.startswith("2 are of no run") for line in lines)


@pytest.mark.usefixtures("only_records")
@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_renewed_campaign_that_is_not_whole_leaves_the_older_one_in_place(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    job = CampaignJob(load_experiment(PAPER), WHOLE, tmp_path, tmp_path)
    state = recorded(job, tmp_path)
    unmade = RunStatus(job.runs[1], "unmade", None)
    (folder,) = job.shipped
    old = f"{state.name}-old"
    write_seven_regions(folder / old, path=state.run.plan.path)
    begun = begun_records(PAPER, tmp_path)
    lines = reference._publish_experiment(job, (state, unmade))
    assert lines[0] == f"1 records copied to {begun}, 0 were there"
    assert "1 runs have none yet" in lines[1]
    assert [each.name for each in records_in(folder)] == [old]

    # Another part of the experiment, of which nothing is there, leaves them
    far = tmp_path / "elsewhere" / "away-seed2-other"
    away = write_seven_regions(far, path=state.run.plan.path, seed=2)
    other = dataclasses.replace(state.run, plan=away.plan)
    reference._publish_experiment(job, (RunStatus(other, far.name, away.directory), unmade))
    assert len(records_in(begun)) == 1

    # Runs that are there count as made, and whole they take the older ones' place
    asked: list[FilePath] = []
    monkeypatch.setattr(jobs, "run_statuses", lambda _runs, folders: asked.extend(folders))
    job.states()
    assert begun in asked
    # wherever the records that are copied lie
    (made,) = records_in(begun)
    again = state if elsewhere else dataclasses.replace(state, record=made)
    reference._publish_experiment(job, (again,))
    assert {each.name for each in records_in(folder)} == {made.name, far.name}
    assert not begun.exists()


@pytest.mark.parametrize("size_bytes", [1_999_999, 2_000_001])
def test_a_record_with_a_large_table_is_not_shipped_where_measures_have_what_it_says(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch, size_bytes: int
) -> None:
    job = CampaignJob(load_experiment("udp"), WHOLE, tmp_path, tmp_path)
    state = recorded(job, tmp_path)
    assert state.record is not None
    (state.record / "short_flows.parquet").write_bytes(bytes(size_bytes))
    monkeypatch.setattr(reference, "recorded_runs", lambda states: tuple(states))
    monkeypatch.setattr(reference, "has_measures", lambda _name, _experiments: True)
    monkeypatch.setattr(reference, "measures_of", lambda runs, experiments: tuple(runs))
    measured: list[int] = []
    monkeypatch.setattr(reference, "write_measures", lambda runs, _file: measured.append(len(runs)))
    monkeypatch.setattr(reference, "_copy_record", lambda _state, _folder: True)
    monkeypatch.setattr(reference, "_replaced", lambda *_arguments: [])
    monkeypatch.setattr(reference, "_runs_kept_in", lambda *_arguments: ())
    lines = reference._publish_experiment(job, (state,))
    assert measured == [1]
    assert lines[0].startswith("1 records" if size_bytes < 2_000_000 else "0 records")
    assert any("large tables" in line for line in lines) == (size_bytes > 2_000_000)


def test_a_quick_record_takes_the_place_of_no_whole_one_of_its_name(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = CampaignJob(load_experiment("udp"), QUICK, tmp_path, tmp_path)
    state = recorded(job, tmp_path)
    (folder,) = job.shipped
    for digest in ("whole", "old"):
        write_seven_regions(folder / f"{state.name}-{digest}", path=state.run.plan.path)
    whole = RunStatus(load_experiment("udp").runs()[0], "", folder / f"{state.name}-whole")
    asked: list[WantedRun] = []

    def statuses(runs: Sequence[WantedRun], _folders: Sequence[FilePath]) -> tuple[RunStatus, ...]:
        asked.extend(runs)
        return (whole,)

    monkeypatch.setattr(reference, "run_statuses", statuses)
    monkeypatch.setattr(reference, "load_experiment", lambda *_args: load_experiment("udp"))
    replaced = reference._replaced(job, (state,), folder)
    assert [each.name for each in replaced] == [f"{state.name}-old"]
    of_sets = {plan_identity(run.plan) for run in (*load_experiment("udp").runs(), *job.runs)}
    assert {plan_identity(run.plan) for run in asked} == of_sets - {plan_identity(state.run.plan)}
