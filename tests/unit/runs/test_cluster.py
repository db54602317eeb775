"""Snakemake: what it is told, how far it is, and what is in the way of a report."""

from __future__ import annotations

import importlib.util
from pathlib import Path as FilePath

import pytest

from farpath.base import project
from farpath.base.errors import BadInputError, MachineLacksError
from farpath.planning.experiment import ExperimentPart, load_experiment
from farpath.runs import cluster as snakemake
from farpath.runs.job import CampaignJob
from farpath.runs.status import RunStatus
from tests.support.campaigns import make_empty_record


@pytest.fixture
def progress(todo: list[RunStatus], tmp_path: FilePath) -> snakemake.Progress:
    (tmp_path / "logs").mkdir()
    return snakemake.Progress(todo, tmp_path, cores=2, made_before=6)


def test_before_anything_ran_the_time_left_is_the_expected_one(
    progress: snakemake.Progress,
) -> None:
    assert progress.line(0.0) == "6 of 9 runs made, 0 running, 3 left; about 10 min to go"


def test_the_time_left_follows_how_long_runs_really_took(
    progress: snakemake.Progress, tmp_path: FilePath
) -> None:
    for name in ("a", "b"):
        (tmp_path / f".{name}.lock").touch()
    assert progress.line(0.0).startswith("6 of 9 runs made, 2 running, 1 left;")
    make_empty_record(tmp_path, "b")
    # Twice as long as expected: a has 10 of 20 minutes left, c takes 10, on two cores
    line = progress.line(600.0)
    assert line == "7 of 9 runs made, 1 running, 1 left; about 10 min to go"


def test_one_long_run_is_not_shared_between_cores(
    progress: snakemake.Progress, tmp_path: FilePath
) -> None:
    for name in ("b", "c"):
        make_empty_record(tmp_path, name)
    (tmp_path / ".a.lock").touch()
    assert progress.line(0.0) == "8 of 9 runs made, 1 running, 0 left; about 10 min to go"


def test_failed_runs_are_counted_apart_and_not_waited_for(
    progress: snakemake.Progress, tmp_path: FilePath
) -> None:
    make_empty_record(tmp_path, "b")
    make_empty_record(tmp_path, "c")
    (tmp_path / "logs" / "a.failed").touch()
    assert progress.line(0.0) == "8 of 9 runs made, 0 running, 1 failed, 0 left"


def test_snakemake_is_told_to_keep_going_and_to_trust_records(tmp_path: FilePath) -> None:
    job = CampaignJob(load_experiment("seven-regions"), "quick", tmp_path, cores=3)
    command = snakemake._command(job, ["runs"], [], partial=False)
    assert {"--keep-going", "--ignore-incomplete", "--nolock"} <= set(command)
    assert command[command.index("--cores") + 1] == "3"
    assert command[command.index("--config") + 1 :][:2] == ["experiment=seven-regions", "set=quick"]


def test_snakemake_is_told_which_part_of_the_experiment_is_meant(tmp_path: FilePath) -> None:
    meant = ExperimentPart("5s", ("base", "queue"), ("cern-as-was",))
    part = load_experiment("ablation", part=meant)
    command = snakemake._command(CampaignJob(part, out=tmp_path), ["runs"], [], partial=False)
    settings = command[command.index("--config") + 1 :]
    assert {"region=5s", "only=base,queue", "path=cern-as-was"} <= set(settings)
    whole = CampaignJob(load_experiment("ablation"), out=tmp_path)
    command = snakemake._command(whole, ["runs"], [], partial=False)
    assert not [word for word in command if word.startswith(("region=", "only=", "path="))]


@pytest.mark.parametrize(("options", "is_told"), [((), True), (("--executor", "slurm"), False)])
def test_runs_share_the_cores_of_this_machine_and_not_of_a_cluster(
    tmp_path: FilePath, options: tuple[str, ...], is_told: bool
) -> None:
    experiment = load_experiment("seven-regions")
    job = CampaignJob(experiment, "quick", tmp_path, cores=3, options=options)
    assert ("cores=3" in snakemake._command(job, ["runs"], [], partial=False)) == is_told


def test_a_report_takes_the_place_of_no_folder_of_somebodys_own(tmp_path: FilePath) -> None:
    snakemake.check_report(tmp_path / "new")
    (tmp_path / "figures").mkdir()
    with pytest.raises(BadInputError, match="holds figures, which farpath has not made"):
        snakemake.check_report(tmp_path)
    (tmp_path / project.REPORT_MARK).write_text("")
    snakemake.check_report(tmp_path)


def test_without_snakemake_nothing_is_advised_that_is_not_farpaths(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MachineLacksError, match="'make venv-paper'") as refused:
        snakemake.run_campaign(CampaignJob(load_experiment("seven-regions"), "quick", tmp_path))
    assert "pip install" not in refused.value.message
