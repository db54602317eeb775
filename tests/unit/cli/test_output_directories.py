"""Commands of several runs: a directory that cannot be one is refused before the first run."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from tests.support.command_line import Farpath

PATH = ("--path=caltech", "--time=5s")
COMMANDS = [
    ("sweep", *PATH, "--stack=reno,cubic"),
    ("league", *PATH, "--stack=reno,cubic"),
    ("starvation", *PATH[:1], "--stack=reno", "--jitter=0..1ms"),
    ("diff", "rtt=20ms", "rtt=30ms"),
    ("regress",),
    ("conformance", "reno"),
    ("bisect", "--good=HEAD", "--case=reno/one-loss"),
    ("campaign", "--quick"),
    ("campaign", "udp", "--list"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_records_go_to_a_directory_or_nothing_is_run(
    farpath: Farpath, tmp_path: FilePath, command: tuple[str, ...]
) -> None:
    file = tmp_path / "notes"
    file.write_text("mine")
    for out, message in (
        ("/dev/null", "/dev/null is a device, no directory"),
        (f"{file}/a/b", f"{file}/a/b cannot be made: {file} is a regular file, no directory"),
    ):
        ended = farpath(*command, f"--out={out}")
        assert ended.status == 2
        assert ended.err == f"farpath: {message}: give another directory with --out\n"
        assert ended.out == ""
    assert file.read_text() == "mine"


@pytest.mark.parametrize("command", [*COMMANDS[:3], COMMANDS[-2]], ids=" ".join)
def test_a_report_goes_to_a_directory_or_nothing_is_run(
    farpath: Farpath, tmp_path: FilePath, command: tuple[str, ...]
) -> None:
    file = tmp_path / "report"
    file.touch()
    ended = farpath(*command, f"--out={tmp_path / 'out'}", f"--report={file}")
    assert ended.status == 2
    assert ended.err.endswith(
        "is a regular file, no directory: give another directory with --report\n"
    )
    assert ended.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
