"""Conducting: how far it is, what is in the way, and what Snakemake is told."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path as FilePath

import pytest

from farpath.base import project
from farpath.base.errors import BadInputError, MachineLacksError
from farpath.campaign import snakemake
from farpath.campaign.status import ASIDE, GATHERED, RunStatus, gather, put_aside, records_in
from farpath.cli import campaign
from farpath.planning.experiment import load_experiment
from farpath.record.record import RECORD_FILE


@pytest.fixture
def todo() -> list[RunStatus]:
    """Three runs to make, of 10, 5 and 5 expected minutes on one core."""
    run = load_experiment("seven-regions").runs("quick")[0]
    minutes = {"a": 10, "b": 5, "c": 5}
    return [
        RunStatus(replace(run, expected_s=60.0 * expected), name, None)
        for name, expected in minutes.items()
    ]


@pytest.fixture
def progress(todo: list[RunStatus], tmp_path: FilePath) -> snakemake.Progress:
    (tmp_path / "logs").mkdir()
    return snakemake.Progress(todo, tmp_path, cores=2, made_before=6)


def made(out: FilePath, name: str) -> None:
    (out / name).mkdir()
    (out / name / RECORD_FILE).touch()
    (out / f".{name}.lock").unlink(missing_ok=True)


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
    made(tmp_path, "b")
    # Twice as long as expected: a has 10 of 20 minutes left, c takes 10, on two cores
    line = progress.line(600.0)
    assert line == "7 of 9 runs made, 1 running, 1 left; about 10 min to go"


def test_one_long_run_is_not_shared_between_cores(
    progress: snakemake.Progress, tmp_path: FilePath
) -> None:
    for name in ("b", "c"):
        made(tmp_path, name)
    (tmp_path / ".a.lock").touch()
    assert progress.line(0.0) == "8 of 9 runs made, 1 running, 0 left; about 10 min to go"


def test_failed_runs_are_counted_apart_and_not_waited_for(
    progress: snakemake.Progress, tmp_path: FilePath
) -> None:
    made(tmp_path, "b")
    made(tmp_path, "c")
    (tmp_path / "logs" / "a.failed").touch()
    assert progress.line(0.0) == "8 of 9 runs made, 0 running, 1 failed, 0 left"


def test_a_disk_without_room_is_named_before_a_run_is_begun(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snakemake, "RUN_BYTES", 1 << 60)
    with pytest.raises(MachineLacksError, match=r"no space left under .* 2 runs take .* OUT"):
        snakemake.check_space(tmp_path, 2)


def test_snakemake_is_told_to_keep_going_and_to_trust_records(tmp_path: FilePath) -> None:
    job = snakemake.CampaignJob(load_experiment("seven-regions"), "quick", tmp_path, cores=3)
    command = snakemake._command(job, ["runs"], [], partial=False)
    assert {"--keep-going", "--ignore-incomplete", "--nolock"} <= set(command)
    assert command[command.index("--cores") + 1] == "3"
    assert command[command.index("--config") + 1 :][:2] == ["experiment=seven-regions", "set=quick"]


def test_a_damaged_record_makes_way_and_is_kept(todo: list[RunStatus], tmp_path: FilePath) -> None:
    for text in ("first", "second"):
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / RECORD_FILE).write_text(text)
        (said,) = put_aside(tmp_path, todo)
        assert f"it was moved to {tmp_path / ASIDE}" in said
    kept = sorted((tmp_path / ASIDE).glob(f"a-*/{RECORD_FILE}"))
    assert [file.read_text() for file in kept] == ["first", "second"]
    assert records_in(tmp_path) == []


def test_an_empty_directory_makes_way_without_a_word(
    todo: list[RunStatus], tmp_path: FilePath
) -> None:
    (tmp_path / "a").mkdir()
    assert put_aside(tmp_path, todo) == []
    assert not (tmp_path / "a").exists()


def test_a_record_in_the_making_is_no_record(tmp_path: FilePath) -> None:
    made(tmp_path, ".partial-1-abc")
    made(tmp_path, "whole")
    assert records_in(tmp_path) == [tmp_path / "whole"]


def test_what_is_gathered_replaces_what_was(todo: list[RunStatus], tmp_path: FilePath) -> None:
    made(tmp_path, "a")
    folder = tmp_path / "report" / "records"
    made(tmp_path, "old")
    assert gather([RunStatus(todo[0].run, "old", tmp_path / "old")], folder) == 1
    found = [RunStatus(todo[0].run, "a", tmp_path / "a"), *todo[1:]]
    assert gather(found, folder) == 1
    assert sorted(file.name for file in folder.iterdir()) == [GATHERED, "a"]
    assert (tmp_path / "old" / RECORD_FILE).exists()
    assert (folder / "a").resolve() == (tmp_path / "a").resolve()
    assert not (folder / "a").readlink().is_absolute()


def _with_a_file_of_ones_own(folder: FilePath) -> None:
    (folder / "precious").write_text("mine")


def _with_links_of_ones_own(folder: FilePath) -> None:
    (folder / "link").symlink_to("/etc")


def _gathered_and_used(folder: FilePath) -> None:
    gather([], folder)
    (folder / "notes").write_text("mine")


@pytest.mark.parametrize(
    "fill", [_with_a_file_of_ones_own, _with_links_of_ones_own, _gathered_and_used]
)
def test_a_directory_of_somebodys_own_is_not_emptied_for_links(
    todo: list[RunStatus], tmp_path: FilePath, fill: Callable[[FilePath], None]
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    fill(folder)
    before = sorted(folder.iterdir())
    with pytest.raises(BadInputError, match="has not put there"):
        gather(todo, folder)
    assert sorted(folder.iterdir()) == before


def test_links_go_into_an_empty_directory_and_into_no_file(
    todo: list[RunStatus], tmp_path: FilePath
) -> None:
    (tmp_path / "empty").mkdir()
    assert gather(todo, tmp_path / "empty") == 0
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadInputError, match="is no directory"):
        gather(todo, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_report_takes_the_place_of_no_folder_of_somebodys_own(tmp_path: FilePath) -> None:
    snakemake.check_report(tmp_path / "new")
    (tmp_path / "figures").mkdir()
    with pytest.raises(BadInputError, match="holds figures, which farpath has not made"):
        snakemake.check_report(tmp_path)
    (tmp_path / project.REPORT_MARK).write_text("")
    snakemake.check_report(tmp_path)


def test_the_report_of_ones_own_experiment_is_below_its_records_and_has_no_claims(
    tmp_path: FilePath,
) -> None:
    (tmp_path / "mine").mkdir()
    text = 'title = "Mine"\n[[runs]]\nrtt = "20ms"\nstack = ["cubic", "bbr"]\nregion = "5s"\n'
    (tmp_path / "mine" / "experiment.toml").write_text(text)
    own = snakemake.CampaignJob(
        load_experiment("mine", tmp_path), out=tmp_path / "results" / "mine"
    )
    assert own.parts == ("tables", "figures", "page")
    assert campaign._report_place(own) == tmp_path / "results" / "mine" / "report"
    quick = snakemake.CampaignJob(load_experiment("seven-regions"), "quick", tmp_path)
    assert quick.parts == ("tables", "claims", "figures", "page")
    assert campaign._report_place(quick) == FilePath("results/paper-quick")


def test_without_snakemake_nothing_is_advised_that_is_not_farpaths(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MachineLacksError, match="'make venv-paper'") as refused:
        snakemake.run_campaign(
            snakemake.CampaignJob(load_experiment("seven-regions"), "quick", tmp_path)
        )
    assert "pip install" not in refused.value.message
