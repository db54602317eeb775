"""What ``farpath exec`` says of how programs ended."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from farpath.cli.exec import _result, _result_so_far, _tell_server_end, _without_memory
from farpath.lab.exec.program_run import ProgramOutcome, WallTimeoutError
from farpath.record.program_record import Ending, ServerEnding
from tests.support.command_line import Farpath


def test_the_result_is_statuses_outputs_and_the_record(tmp_path: Path) -> None:
    for name, text in (("client.out", "words"), ("client.err", ""), ("exec.json", "{}")):
        (tmp_path / name).write_text(text)
    ending = Ending(3, 0.5, (ServerEnding("server", 143, None),))
    assert _result(ProgramOutcome(tmp_path, ending, "abc")) == {
        "record": str(tmp_path),
        "fingerprint": "abc",
        "status": 3,
        "took_s": 0.5,
        "servers": ({"label": "server", "status": 143, "t_s": None},),
        "killed_for_memory": 0,
        "outputs": {"client.out": 5, "client.err": 0},
    }


def test_programs_out_of_real_time_have_the_same_result_without_a_record(tmp_path: Path) -> None:
    (tmp_path / "client.out").write_text("words")
    result = _result_so_far(WallTimeoutError("out of real time", tmp_path, 2.5))
    finished = _result(ProgramOutcome(tmp_path, Ending(0, 0.5, ()), "abc"))
    assert result.keys() - finished.keys() == {"output_directory"}
    assert finished.keys() <= result.keys()
    assert (result["record"], result["status"], result["took_s"]) == (None, 124, 2.5)
    assert (result["outputs"], result["output_directory"]) == ({"client.out": 5}, str(tmp_path))


def test_a_server_that_ends_early_is_told_with_its_status_time_and_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    event = {"event": "server-ended", "label": "server2", "status": 137, "said": "bye", "t_s": 2.5}
    with caplog.at_level(logging.WARNING):
        _tell_server_end(event)
        _tell_server_end({"event": "progress", "t_s": 1.0})
    (record,) = caplog.records
    assert record.message == (
        "the server2 ended with status 137 while the client ran, at 2.500 virtual s: bye"
    )


def test_too_little_memory_is_answered_with_a_larger_one() -> None:
    assert "--memory=3GiB" in _without_memory(1, "1GiB", 1 << 30)
    assert "2 processes were killed" in _without_memory(2, "64MiB", 64 << 20)


def test_collected_files_go_to_a_directory_or_nothing_is_run(
    farpath: Farpath, tmp_path: Path
) -> None:
    file = tmp_path / "got"
    file.touch()
    ended = farpath("exec", "--rtt=20ms", f"--collect={file}", "--", "true")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.endswith("no directory: give another directory with --collect\n")


@pytest.mark.parametrize(
    ("option", "answer"),
    [
        ("--trace=10ms", "--trace is for flows, and programs run here in their place; the record "),
        ("--region=5s", "--region is for flows, and programs run here in their place; give the "),
        ("--colour=red", "No such option: --colour"),
        ("--pcap=all.pcap", "No such option: --pcap; use --capture=sender,receiver for files "),
        ("--outage=2s", "No such option: --outage; use 'farpath up compose.yml', where links "),
        ("--rate=1Mbit,5s:0", "--rate is '1Mbit,5s:0': a rate of 0 is an outage; give at least "),
        ("--rate=1Mbit,700s:2Mbit", "--rate: it has a change at 700 s, but the client ends after"),
    ],
)
def test_what_programs_cannot_have_is_refused_in_a_line_that_says_why(
    farpath: Farpath, option: str, answer: str
) -> None:
    ended = farpath("exec", "--rtt=20ms", option, "--", "true")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(f"farpath: {answer}")
