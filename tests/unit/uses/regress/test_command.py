"""farpath regress: what is refused, and the list of runs."""

from __future__ import annotations

import pytest

from tests.support.command_line import Farpath


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--stacks=htpc",), "did you mean htcp"),
        (("--cores=0",), "--cores is 0"),
        (("--seeds=0",), "--seeds is 0"),
        (("--seeds=1", "--update"), "bounds need two runs"),
        (("--base=linux-source-7.2", "--update"), "leave out"),
        (("--why", "--update"), "leave out --update, which compares no runs"),
        (("--baseline=none.toml",), "none.toml: cannot be read"),
        (("--head=none",), "linux-source-7.3 or 7.3, or the directory"),
        (("--side=middle", "--head=7.3"), "--side is 'middle': it must be sender or receiver"),
        (("--side=sender",), "--side is for a kernel of --head"),
        (("--side=sender", "--head=7.3", "--update"), "a baseline is of one kernel"),
        (("--side=sender", "--head=sender=7.3"), "--head is 'sender=7.3': it must be one kernel"),
        (("--head=receiver=7.3", "--update"), "--head is 'receiver=7.3': it must be one kernel"),
        (("--side=sender", "--head=7.3", "--only=reno/reordering"), "runs in one guest"),
        (("--one-guest", "--base=7.2"), "--one-guest is compared with a baseline"),
        (("--one-guest", "--update"), "give a file of your own"),
        (("--one-guest", "--head=receiver=7.3"), "one guest has one kernel"),
    ],
)
def test_bad_requests_are_refused_in_one_line(
    farpath: Farpath, options: tuple[str, ...], message: str
) -> None:
    ended = farpath("regress", *options)
    assert ended.status == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_the_runs_are_listed_without_a_lab(farpath: Farpath) -> None:
    ended = farpath("regress", "--list", "--stacks=udt")
    assert ended.status == 0
    assert "udt/slow-start" in ended.out
