"""What a client's stdin is made of: files, pipes, and neither terminals nor what never ends."""

from __future__ import annotations

import os
import pty
from pathlib import Path

import pytest

from farpath.base.errors import BadInputError
from farpath.lab.exec import stdin as program_input
from farpath.lab.exec.stdin import Input, read_input
from farpath.spec.programs import FILE_INPUT, PIPE_INPUT


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "input"
    path.write_bytes(b"first\nsecond\n")
    return path


def test_a_file_is_read_whole_and_its_offset_stays(file: Path) -> None:
    with file.open("rb", buffering=0) as stream:
        assert read_input(stream.fileno()) == Input(FILE_INPUT, b"first\nsecond\n")
        assert stream.tell() == 0


def test_a_file_that_a_loop_reads_is_left_to_it_unless_it_is_asked_for(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with file.open("rb", buffering=0) as stream:
        stream.read(6)
        assert read_input(stream.fileno()) == Input()
        assert "--no-stdin" in caplog.text
        assert read_input(stream.fileno(), wanted=True) == Input(FILE_INPUT, b"second\n")
        assert stream.tell() == 6


def test_a_pipe_is_read_to_its_end() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"data\n")
    os.close(writing)
    found = read_input(reading)
    assert found == Input(PIPE_INPUT, b"data\n")
    assert found.sha256.startswith(
        "6667b2d1aab6a00caa5aee5af8ad9f1465e567abf1c209d15727d57b3e8f6e5f"
    )
    os.close(reading)


def test_a_pipe_that_never_ends_counts_as_empty_and_that_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reading, writing = os.pipe()
    assert read_input(reading, first_byte_s=0.01) == Input()
    assert "--stdin waits for its end" in caplog.text
    assert read_input(reading, wanted=False) == Input()
    os.close(reading)
    os.close(writing)


def test_nothing_is_read_of_a_terminal_a_device_an_empty_pipe_or_a_closed_stdin() -> None:
    master, terminal = pty.openpty()
    reading, writing = os.pipe()
    os.close(writing)
    with Path("/dev/zero").open("rb") as device:
        for descriptor in (terminal, reading, device.fileno()):
            assert read_input(descriptor) == Input()
    for descriptor in (master, terminal, reading):
        os.close(descriptor)
    assert read_input(reading) == Input()
    assert Input().sha256 == ""


def test_more_than_is_passed_on_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_input, "MOST_BYTES", 5)
    with file.open("rb") as stream, pytest.raises(BadInputError, match="in share"):
        read_input(stream.fileno())
    with Path("/dev/zero").open("rb") as device, pytest.raises(BadInputError, match="in share"):
        read_input(device.fileno(), wanted=True)
