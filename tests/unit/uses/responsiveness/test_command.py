"""farpath responsiveness: what it refuses before anything boots."""

from __future__ import annotations

import pytest

from tests.support.command_line import Farpath


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--rtt: it is missing"),
        (["--rtt=10ms", "--direction=left"], "--direction is 'left': it must be one of down, up"),
        (["--rtt=10ms", "--interval=5"], "--interval is '5': a number without a unit"),
        (["--rtt=10ms", "--interval=0.1s"], "--interval is '0.1s': out of range"),
        (
            ["--rtt=10ms", "--timeout=20s"],
            "--timeout is '20s': intervals of 5 s need at least 40 s",
        ),
        (["--rtt=10ms", "--figure=rpm.pdf"], "--figure is 'rpm.pdf': end its name with .png"),
        (["--rtt=10ms", "--stack=udt"], "--stack is 'udt': give one congestion control"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    farpath: Farpath, options: list[str], message: str
) -> None:
    ended = farpath("responsiveness", *options)
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err
    assert len(ended.err.splitlines()) == 1
