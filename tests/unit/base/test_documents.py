"""Documents: what nobody could compute with is refused at the door, in one line."""

from __future__ import annotations

import os
from pathlib import Path as FilePath

import pytest

from farpath.base import documents
from farpath.base.errors import BadInputError, shortened
from farpath.base.files import LARGEST_BYTES

DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is not JSON"),
        ("[" * DEEP, "nested"),
        ("[" * DEEP + "]" * DEEP, "nested"),
        ("[" * 100 + "]" * 100, "nested"),
        ('{"a":' * DEEP, "nested"),
        ('["\\ud800"]', "lone surrogate"),
        ('{"\\udfff": 1}', "lone surrogate"),
        ("NaN", "not a finite number"),
        ("[1e999]", "not a finite number"),
        (f"[{1 << 64}]", "more than 64 bits"),
        ("9" * 5000, "is not JSON"),
    ],
)
def test_json_that_cannot_be_used_is_refused_by_its_file(
    tmp_path: FilePath, text: str, complaint: str
) -> None:
    file = tmp_path / "some.json"
    file.write_text(text)
    with pytest.raises(BadInputError, match=complaint) as caught:
        documents.read_json(file, "make it again")
    assert caught.value.message.startswith(f"{file}: ")
    assert caught.value.message.endswith(": make it again")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"a = " + b"[" * DEEP, "nested"),
        (b"a = " + b"{b=" * DEEP, "nested"),
        (b"\xff", "is not TOML"),
        (b"a = ", "is not TOML"),
        (b"a = [2004-10-30]", "holds the date or time 2004-10-30: write it as a text"),
        (b"a = {b = 12:30:00}", "holds the date or time 12:30:00"),
    ],
)
def test_toml_that_cannot_be_used_is_refused_by_its_file(
    tmp_path: FilePath, content: bytes, complaint: str
) -> None:
    file = tmp_path / "some.toml"
    file.write_bytes(content)
    with pytest.raises(BadInputError, match=complaint) as caught:
        documents.read_toml(file)
    assert caught.value.message.startswith(f"{file}: ")


def test_a_file_that_is_not_there_too_large_or_has_an_impossible_name_is_refused(
    tmp_path: FilePath,
) -> None:
    for name in ("none", "n" * 300):
        with pytest.raises(BadInputError, match="cannot be read"):
            documents.read_json(tmp_path / name)
    with (tmp_path / "large").open("wb") as large:
        large.truncate(LARGEST_BYTES + 1)
    with pytest.raises(BadInputError, match="cannot be read: it holds more than 64 MiB"):
        documents.read_json(tmp_path / "large")


def test_a_file_that_never_ends_or_waits_for_a_writer_is_no_document(tmp_path: FilePath) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, kind in ((tmp_path / "fifo", "a FIFO"), (FilePath("/dev/zero"), "a device")):
        for read in (documents.read_json, documents.read_toml):
            with pytest.raises(
                BadInputError, match=f"{name}: cannot be read: it is {kind}, no regular file"
            ):
                read(name)


def test_a_byte_order_mark_before_a_document_is_left_out(tmp_path: FilePath) -> None:
    (tmp_path / "some.toml").write_bytes(b"\xef\xbb\xbfrtt = '20ms'\n")
    (tmp_path / "some.json").write_bytes(b'\xef\xbb\xbf{"rtt": "20ms"}')
    assert documents.read_toml(tmp_path / "some.toml") == {"rtt": "20ms"}
    assert documents.read_json(tmp_path / "some.json") == {"rtt": "20ms"}


def test_a_message_repeats_the_beginning_and_end_of_a_long_text_only() -> None:
    text = "begin" + "x" * 5000 + "end"
    for message in (f"STACK is '{text}': it must be", f"{text} is no directory: give one"):
        short = shortened(message)
        assert len(short) < 400
        assert "begin" in short
        assert "end" in short
    assert shortened("a run's path, and another's") == "a run's path, and another's"
    assert BadInputError(f"'{text}'").message == shortened(f"'{text}'")
