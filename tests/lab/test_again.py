"""The run of a record is made again with captures and a trace, and is the same run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as FilePath

import pytest

from farpath.lab.run import run
from farpath.mechanisms.capture.capture_files import captured_files
from farpath.record.record import Record, load_record
from farpath.runs.again import repeat, repetition
from tests.support.networks import short_plan

FURTHER = {"capture": "sender,bottleneck", "trace": "5ms"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A flow of five seconds, without captures and without a trace."""
    plan = short_plan(rate="20Mbit", region="5s")
    out = tmp_path_factory.mktemp("recorded")
    return load_record(run(plan, out, False, lambda _event: None).directory)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> FilePath:
    """Where runs are made again."""
    return tmp_path_factory.mktemp("again")


def test_a_repeated_run_has_the_records_fingerprint_and_what_was_asked_beside(
    recorded: Record, place: FilePath
) -> None:
    asked = repetition(recorded.directory, FURTHER)
    first, second = repeat([asked, asked], place=place)
    assert first.record.fingerprint == recorded.fingerprint
    assert first.difference == ""
    assert first.record.directory == second.record.directory
    assert set(captured_files(first.record)) == {"sender", "bottleneck"}
    assert first.record.trace is not None
    assert len(first.record.trace) > 900
    (found,) = repeat([asked], place=place)
    assert found.cached
    assert not first.cached


def test_a_run_that_is_another_one_now_says_so_and_why(recorded: Record, place: FilePath) -> None:
    asked = repetition(recorded.directory, FURTHER)
    before = {**asked.made_by, "code_sha256": "0" * 64, "git_commit": "5" * 40}
    (again,) = repeat([replace(asked, expected="1" * 64, made_by=before)], place=place)
    assert again.record.fingerprint == recorded.fingerprint
    assert f"{recorded.fingerprint[:12]} in place of {'1' * 12}" in again.difference
    assert "of another version of farpath" in again.difference
    assert "(commit 555555555555)" in again.difference
