"""A record's place follows everything that decides it; what a plan's receivers wake for."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path as FilePath
from types import ModuleType

import pytest

from farpath.base.project import PROJECT
from farpath.record import identity
from farpath.record.identity import (
    DECIDING_CODE,
    HOST_PARTS,
    OPEN_PACKAGES,
    SHOWING_CODE,
    code_identity,
    recorded_build_identity,
)
from farpath.spec.background import Background


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


@pytest.mark.parametrize("name", ["farpath/tables.py", *sorted(SHOWING_CODE)])
def test_an_edit_of_a_file_that_decides_nothing_changes_no_identity(
    copy: FilePath, name: str
) -> None:
    (copy / name).write_text("# edited\n")
    assert code_identity(copy) == code_identity()


@pytest.mark.parametrize("package", OPEN_PACKAGES)
def test_code_of_a_further_directory_counts_wherever_it_is(
    package: ModuleType, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    identities = [code_identity()]
    for place in ("one", "other"):
        folder = tmp_path / place
        (folder / "mine").mkdir(parents=True)
        (folder / "mine" / "device.py").write_text("# new\n")
        monkeypatch.setattr(package, "__path__", [package.__path__[0], str(folder)])
        identities.append(code_identity())
    (folder / "mine" / "device.py").write_text("# edited\n")
    identities.append(code_identity())
    plain, first, second, edited = identities
    assert first == second
    assert len({plain, first, edited}) == 3


def test_an_edit_of_the_host_part_of_a_mechanism_changes_no_identity(copy: FilePath) -> None:
    parts = [file for pattern in HOST_PARTS for file in copy.glob(pattern)]
    assert len(parts) > len(HOST_PARTS)
    for file in parts:
        file.write_text(f"{file.read_text()}# edited\n")
    assert code_identity(copy) == code_identity()


def test_code_that_shows_runs_is_there_under_these_names() -> None:
    assert [name for name in SHOWING_CODE if not (PROJECT / name).is_file()] == []


def test_a_field_that_a_later_farpath_adds_makes_no_other_run() -> None:
    @dataclasses.dataclass(frozen=True)
    class Later(Background):
        jitter_s: float = 0.0

    values = (2, 1_000_000, 5.0, 5.0)
    today = identity._canonical(Background(*values))
    assert identity._canonical(Later(*values)) == today
    assert identity._canonical(Later(*values, jitter_s=1.0)) != identity._canonical(
        Background(*values)
    )


def test_a_record_of_another_results_version_is_told_and_an_older_one_has_the_first() -> None:
    older: dict[str, int] = {}
    mine = {"results_version": identity.RESULTS_VERSION}
    other = {"results_version": identity.RESULTS_VERSION + 1}
    first = identity.RESULTS_VERSION == identity.FIRST_RESULTS_VERSION
    assert identity.is_of_other_results(older) is not first
    assert not identity.is_of_other_results(mine)
    assert identity.is_of_other_results(other)


@pytest.mark.parametrize("text", ["", "[]", '{"provenance": {}}', "{"])
def test_a_record_that_says_no_source_has_none(tmp_path: FilePath, text: str) -> None:
    (tmp_path / "record.json").write_text(text)
    assert recorded_build_identity(tmp_path / "record.json") is None
