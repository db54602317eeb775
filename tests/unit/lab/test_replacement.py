"""A record that is made again: put in its place, and said to differ where it should not."""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import BadInputError, LabFailedError, StoppedError
from farpath.lab.replacement import put_in_place, whole_record

RECORD = "record.json"
SETTINGS = {"clock": "virtual", "lab": "virtual"}
PROVENANCE = {"images_sha256": "aa", "code_sha256": "bb", "cpu_model": "one", "recorded_at": "now"}


def description(fingerprint: str, **other: Any) -> dict[str, Any]:
    return {
        "plan": {"settings": SETTINGS, "seed": 1},
        "provenance": PROVENANCE,
        "fingerprint": fingerprint * 64,
        **other,
    }


def replaced(place: FilePath, *descriptions: Any) -> FilePath:
    """Put a record with each description in one place after the other; returns the place."""
    for number, data in enumerate(descriptions):
        fresh = place.parent / f".partial{number}"
        fresh.mkdir()
        (fresh / RECORD).write_text(json.dumps(data))
        put_in_place(fresh, place, RECORD)
        assert json.loads((place / RECORD).read_text()) == data
    return place


def test_an_equal_record_with_another_fingerprint_is_said_in_one_line(
    tmp_path: FilePath, caplog: pytest.LogCaptureFixture
) -> None:
    later = {**PROVENANCE, "recorded_at": "later"}
    place = replaced(tmp_path / "one", description("a"), description("b", provenance=later))
    (message,) = caplog.messages
    assert message.startswith(f"{place}: made again from the same plan, build and code")
    assert "another fingerprint: bbbbbbbbbbbb, before aaaaaaaaaaaa; this should not be" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"provenance": {**PROVENANCE, "cpu_model": "two"}}, "the processor is another one, 'two'"),
        ({"programs": {"client": ["true"]}}, "something that the lab does not fix"),
        (
            {
                "programs": {"client": ["true"]},
                "provenance": {**PROVENANCE, "machine_files": {"packages": "b", "settings": "b"}},
            },
            "these files of this machine have changed: installed packages, /etc",
        ),
    ],
)
def test_what_may_be_the_reason_is_said(
    other: dict[str, Any], reason: str, tmp_path: FilePath, caplog: pytest.LogCaptureFixture
) -> None:
    first = {name: value for name, value in other.items() if name == "programs"}
    first["provenance"] = {**PROVENANCE, "machine_files": {"packages": "a", "settings": "a"}}
    other = {"provenance": first["provenance"], **other}
    replaced(tmp_path / "one", description("a", **first), description("b", **other))
    (message,) = caplog.messages
    assert reason in message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (description("a"), description("a")),
        (description("a"), description("b", plan={"settings": SETTINGS, "seed": 2})),
        (description("a"), description("b", provenance={**PROVENANCE, "code_sha256": "other"})),
        (description("a"), description("b", provenance={**PROVENANCE, "images_sha256": "other"})),
        (description("a", programs={"client": ["a"]}), description("b", programs={"client": []})),
        # On these clocks equal runs differ
        *[
            (description("a", plan=plan), description("b", plan=plan))
            for plan in (
                {"settings": {"clock": "cpu", "lab": "virtual"}},
                {"settings": {"clock": "wall", "lab": "host"}},
            )
        ],
        # Nothing to compare with
        ({}, description("b")),
        ([], description("b")),
    ],
)
def test_nothing_is_said_where_records_may_differ(
    before: Any, after: Any, tmp_path: FilePath, caplog: pytest.LogCaptureFixture
) -> None:
    replaced(tmp_path / "one", before, after)
    assert caplog.messages == []


def test_a_first_record_and_one_in_the_place_of_a_damaged_one_are_put_there_without_a_word(
    tmp_path: FilePath, caplog: pytest.LogCaptureFixture
) -> None:
    place = replaced(tmp_path / "one", description("a"))
    (place / RECORD).write_text("{")
    fresh = tmp_path / ".partial"
    fresh.mkdir()
    (fresh / RECORD).write_text(json.dumps(description("b")))
    put_in_place(fresh, place, RECORD)
    assert caplog.messages == []


def test_a_record_appears_whole_and_has_the_consoles_log(out: FilePath) -> None:
    with whole_record(out, "one", RECORD) as (partial, log):
        (partial / RECORD).write_text("{}")
        log.write_text("booted")
        assert not (out / "one").exists()
    assert sorted(file.name for file in out.iterdir()) == ["one"]
    assert (out / "one" / "console.log").read_text() == "booted"


@pytest.mark.parametrize(
    ("error", "left"),
    [
        (LabFailedError("the guest ended"), ["one.console.log"]),
        (StoppedError("stopped"), []),
        (KeyboardInterrupt(), []),
    ],
)
def test_a_failure_leaves_the_consoles_log_alone_and_a_stop_nothing(
    out: FilePath, error: BaseException, left: list[str]
) -> None:
    def fail() -> None:
        with whole_record(out, "one", RECORD) as (partial, log):
            (partial / RECORD).write_text("{}")
            log.write_text("booted")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert [file.name for file in out.iterdir()] == left


def test_one_process_makes_a_record_at_a_time(out: FilePath) -> None:
    with whole_record(out, "one", RECORD) as (_, log):
        log.touch()
        again = whole_record(out, "one", RECORD)
        with pytest.raises(BadInputError, match="is making this record"), again:
            pass
