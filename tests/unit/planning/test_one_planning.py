"""One planning: a plan reads each path file once, and checks the values of a path once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.documents import read_toml
from farpath.planning import path_files
from farpath.planning.request import RunRequest
from farpath.spec.path import Path


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Count reads of path files by their names, and checks of paths."""
    counts: Counter[str] = Counter()
    check = Path.__post_init__

    def counted_read(file: FilePath) -> dict[str, Any]:
        counts[file.stem] += 1
        return read_toml(file)

    def counted_check(path: Path) -> None:
        counts["checks"] += 1
        check(path)

    monkeypatch.setattr("farpath.planning.path_files.read_toml", counted_read)
    monkeypatch.setattr(Path, "__post_init__", counted_check)
    path_files._read.cache_clear()
    yield counts
    path_files._read.cache_clear()


def test_an_rtt_with_amounts_reads_each_path_file_once_and_checks_one_path(
    counts: Counter[str],
) -> None:
    for _ in range(2):
        RunRequest(rtt="50ms", buffer="2xBDP", window="4xBDP").plan()
    assert counts == {**dict.fromkeys(path_files.named_paths(), 1), "checks": 2}


def test_a_named_path_reads_its_own_file_alone(counts: Counter[str]) -> None:
    RunRequest(path="ufl", buffer="2xBDP", drop="every:1000", senders="rtt=300ms").plan()
    assert set(counts) == {"ufl", "checks"}
    assert counts["ufl"] == 1


def test_a_path_file_that_changes_is_read_again(tmp_path: FilePath) -> None:
    file = tmp_path / "ufl.toml"
    text = path_files.named_paths()["ufl"].read_text(encoding="utf-8")
    file.write_text(text)
    before = path_files.load_path(file).title
    file.write_text(text.replace(f'title = "{before}"', 'title = "another title"'))
    os.utime(file, ns=(0, 0))
    assert path_files.load_path(file).title == "another title"
