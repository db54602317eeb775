"""Files: what the file system refuses is one line, and nothing that was there is lost."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.files import replace_directory, resource_errors, write_bytes


def test_only_what_a_user_can_mend_is_said_to_be_a_files_fault(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="File name too long"), resource_errors():
        (tmp_path / ("n" * 300)).stat()
    with pytest.raises(FileNotFoundError), resource_errors():
        (tmp_path / "none").read_text()
    with pytest.raises(MachineLacksError, match="no space"), resource_errors():
        raise OSError(28, "No space left on device", "/some/file")


def test_a_signal_while_a_file_is_opened_leaves_the_former_file_alone(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "table.csv").write_text("old")

    def interrupted(file: FilePath, _mode: str) -> None:
        file.touch(exist_ok=False)
        raise KeyboardInterrupt

    monkeypatch.setattr(FilePath, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "table.csv", b"new")
    monkeypatch.undo()
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


def test_a_directory_in_the_place_of_a_file_is_refused(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="cannot be written"):
        write_bytes(FilePath("/"), b"new")
    with pytest.raises(BadInputError, match="cannot be written"):
        write_bytes(tmp_path, b"new")


def test_a_directory_that_cannot_take_its_place_leaves_what_was_there(tmp_path: FilePath) -> None:
    directory, fresh = tmp_path / "site", tmp_path / "fresh"
    directory.mkdir()
    (directory / "page").write_text("old")
    (fresh / "replaced").mkdir(parents=True)
    (fresh / "replaced" / "in the way").write_text("")
    with pytest.raises(OSError, match="not empty"):
        replace_directory(fresh, directory)
    assert (directory / "page").read_text() == "old"


def test_a_link_at_a_place_is_replaced_and_what_it_leads_to_stays(tmp_path: FilePath) -> None:
    precious, directory, fresh = tmp_path / "precious", tmp_path / "site", tmp_path / "fresh"
    for folder in (precious, fresh):
        folder.mkdir()
        (folder / "page").write_text(folder.name)
    directory.symlink_to(precious)
    replace_directory(fresh, directory)
    assert (directory / "page").read_text() == "fresh"
    assert sorted(file.name for file in directory.iterdir()) == ["page"]
    assert (precious / "page").read_text() == "precious"
