"""The status of runs: records found, put aside and gathered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.record.record import RECORD_FILE, records_in
from farpath.runs import status
from farpath.runs.experiment import QUICK, load_experiment
from farpath.runs.status import (
    DAMAGED_DIR,
    GATHERED_MARK,
    RunStatus,
    gather,
    move_damaged_records,
)
from tests.support.campaigns import make_empty_record


def test_programs_of_runs_are_built_before_the_runs_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built: list[str] = []
    monkeypatch.setattr(status, "find_images", lambda: None)
    monkeypatch.setattr(
        status, "build_programs", lambda stacks, _: built.extend(each.label for each in stacks)
    )
    status.images_for(load_experiment("bbr-cases").runs(QUICK))
    assert {"bbr3", "quic_ngtcp2:cc=bbr"} <= set(built)


def test_a_damaged_record_makes_way_and_is_kept(todo: list[RunStatus], tmp_path: FilePath) -> None:
    for text in ("first", "second"):
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / RECORD_FILE).write_text(text)
        (said,) = move_damaged_records(tmp_path, todo)
        assert f"it was moved to {tmp_path / DAMAGED_DIR}" in said
    kept = sorted((tmp_path / DAMAGED_DIR).glob(f"a-*/{RECORD_FILE}"))
    assert [file.read_text() for file in kept] == ["first", "second"]
    assert records_in(tmp_path) == []


def test_an_empty_directory_makes_way_without_a_word(
    todo: list[RunStatus], tmp_path: FilePath
) -> None:
    (tmp_path / "a").mkdir()
    assert move_damaged_records(tmp_path, todo) == []
    assert not (tmp_path / "a").exists()


def test_a_record_in_the_making_is_no_record(tmp_path: FilePath) -> None:
    make_empty_record(tmp_path, ".partial-1-abc")
    make_empty_record(tmp_path, "whole")
    assert records_in(tmp_path) == [tmp_path / "whole"]


def test_what_is_gathered_replaces_what_was(todo: list[RunStatus], tmp_path: FilePath) -> None:
    make_empty_record(tmp_path, "a")
    folder = tmp_path / "report" / "records"
    make_empty_record(tmp_path, "old")
    assert gather([RunStatus(todo[0].run, "old", tmp_path / "old")], folder) == 1
    found = [RunStatus(todo[0].run, "a", tmp_path / "a"), *todo[1:]]
    assert gather(found, folder) == 1
    assert sorted(file.name for file in folder.iterdir()) == [GATHERED_MARK, "a"]
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
