"""farpath exec and farpath shell: what they refuse before anything boots."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from tests.support.command_line import Farpath


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--rtt is missing"),
        (["--rtt=10"], "--rtt is '10', a number without a unit"),
        (["--rtt=10ms", "--timeout=0s"], "--timeout is '0s', which is out of range"),
        (["--rtt=10ms", "--memory=1kB"], "--memory is '1kB', which is out of range"),
        (["--rtt=10ms", "--stack=udt4"], "--stack is 'udt4': give one congestion control"),
        (["--rtt=10ms", "--queue=sfq"], "--queue is 'sfq'"),
        (["--rtt=10ms", "--queue=codel:speed=1"], "has no parameter 'speed'"),
        (["--rtt=10ms", "--ecn=perhaps"], "--ecn is 'perhaps'"),
        (["--rtt=10ms", "--ecn=off", "--stack=dctcp"], "--ecn is 'off'"),
        (["--rtt=10ms", "--server="], "--server is ''"),
        (["--rtt=10ms", "--collect=."], "--collect is '.'"),
        (["--rtt=10ms", "--root=moon"], "--root is 'moon'"),
        (["--rtt=10ms", "--date=soon"], "--date is 'soon'"),
    ],
)
def test_exec_refuses_bad_input_in_one_line(
    farpath: Farpath, options: list[str], message: str
) -> None:
    ended = farpath("exec", *options, "--", "true")
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err
    assert len(ended.err.splitlines()) == 1


def test_what_follows_the_client_belongs_to_the_client(farpath: Farpath) -> None:
    ended = farpath("exec", "--rtt=10ms", "farpath-none", "--rtt=1", "--help")
    assert ended.status == 2
    assert "'farpath-none' is no program in PATH" in ended.err


@pytest.mark.parametrize(("queue", "warnings"), [("droptail", 1), ("fq_codel", 0)])
def test_exec_warns_of_ecn_on_a_queue_that_marks_nothing(
    farpath: Farpath, queue: str, warnings: int
) -> None:
    ended = farpath("exec", "--rtt=10ms", "--ecn=on", f"--queue={queue}", "--", "farpath-none")
    assert ended.status == 2
    assert ended.err.count("warning: end hosts react by ECN=on") == warnings


@pytest.mark.parametrize(
    ("options", "message"),
    [([], "--rtt is missing"), (["--rtt=10ms", "--topology=star"], "--topology is 'star'")],
)
def test_shell_refuses_bad_input_in_one_line(
    farpath: Farpath, tmp_path: FilePath, options: list[str], message: str
) -> None:
    ended = farpath("shell", *options, f"--out={tmp_path}")
    assert ended.status == 2
    assert message in ended.err
    assert list(tmp_path.iterdir()) == []
