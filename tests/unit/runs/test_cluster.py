"""Snakemake on a cluster: what it is told, and how far it is."""

from __future__ import annotations

import importlib.util
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import MachineLacksError
from farpath.runs import cluster
from farpath.runs.experiment import ExperimentPart, load_experiment
from farpath.runs.job import CampaignJob
from farpath.runs.status import RunStatus
from tests.support.campaigns import make_empty_record


@pytest.fixture
def progress(todo: list[RunStatus], tmp_path: FilePath) -> cluster.Progress:
    (tmp_path / "logs").mkdir()
    return cluster.Progress(todo, tmp_path, cores=2, made_before=6)


def test_before_anything_ran_the_time_left_is_the_expected_one(
    progress: cluster.Progress,
) -> None:
    assert progress.line(0.0) == "6 of 9 runs made, 0 running, 3 left; about 10 min to go"


def test_the_time_left_follows_how_long_runs_really_took(
    progress: cluster.Progress, tmp_path: FilePath
) -> None:
    for name in ("a", "b"):
        (tmp_path / f".{name}.lock").touch()
    assert progress.line(0.0).startswith("6 of 9 runs made, 2 running, 1 left;")
    make_empty_record(tmp_path, "b")
    # Twice as long as expected: a has 10 of 20 minutes left, c takes 10, on two cores
    line = progress.line(600.0)
    assert line == "7 of 9 runs made, 1 running, 1 left; about 10 min to go"


def test_one_long_run_is_not_shared_between_cores(
    progress: cluster.Progress, tmp_path: FilePath
) -> None:
    for name in ("b", "c"):
        make_empty_record(tmp_path, name)
    (tmp_path / ".a.lock").touch()
    assert progress.line(0.0) == "8 of 9 runs made, 1 running, 0 left; about 10 min to go"


def test_failed_runs_are_counted_apart_and_not_waited_for(
    progress: cluster.Progress, tmp_path: FilePath
) -> None:
    make_empty_record(tmp_path, "b")
    make_empty_record(tmp_path, "c")
    (tmp_path / "logs" / "a.failed").touch()
    assert progress.line(0.0) == "8 of 9 runs made, 0 running, 1 failed, 0 left"


def test_snakemake_is_told_to_keep_going_and_to_trust_records(tmp_path: FilePath) -> None:
    job = CampaignJob(load_experiment("seven-regions"), "quick", tmp_path, cores=3)
    command = cluster._command(job)
    assert {"--keep-going", "--ignore-incomplete", "--nolock"} <= set(command)
    assert command[command.index("--cores") + 1] == "3"
    assert command[command.index("--config") + 1 :][:2] == ["experiment=seven-regions", "set=quick"]


def test_snakemake_is_told_which_part_of_the_experiment_is_meant(tmp_path: FilePath) -> None:
    meant = ExperimentPart("5s", ("base", "queue"), ("cern-as-was",))
    part = load_experiment("ablation", part=meant)
    command = cluster._command(CampaignJob(part, out=tmp_path))
    settings = command[command.index("--config") + 1 :]
    assert {"region=5s", "only=base,queue", "path=cern-as-was"} <= set(settings)
    whole = CampaignJob(load_experiment("ablation"), out=tmp_path)
    command = cluster._command(whole)
    assert not [word for word in command if word.startswith(("region=", "only=", "path="))]


def test_without_snakemake_nothing_is_advised_that_is_not_farpaths(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MachineLacksError, match="'make venv-paper'") as refused:
        cluster.make_on_cluster(CampaignJob(load_experiment("seven-regions"), "quick", tmp_path))
    assert "pip install" not in refused.value.message
