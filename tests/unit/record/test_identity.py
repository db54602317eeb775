"""A record's place follows everything that decides it; what a plan's receivers wake for."""

from __future__ import annotations

import shutil
from pathlib import Path as FilePath

import pytest

from farpath.base.project import PROJECT
from farpath.record.identity import DECIDING_CODE, code_identity


@pytest.fixture
def copy(tmp_path: FilePath) -> FilePath:
    """A copy of the code that decides a run."""
    for name in DECIDING_CODE:
        source, target = PROJECT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return tmp_path


def test_equal_code_in_another_folder_has_the_same_identity(copy: FilePath) -> None:
    assert code_identity(copy) == code_identity()


@pytest.mark.parametrize("name", ["farpath/spec/qdiscs.py", "farpath/spec/plan.py"])
def test_an_edit_of_deciding_code_gives_records_another_place(copy: FilePath, name: str) -> None:
    with (copy / name).open("a") as file:
        file.write("# edited\n")
    assert code_identity(copy) != code_identity()


def test_a_file_that_decides_nothing_changes_no_identity(copy: FilePath) -> None:
    (copy / "farpath" / "tables.py").write_text("# other tables\n")
    assert code_identity(copy) == code_identity()
