"""farpath regress: what is refused, and the list of runs."""

from __future__ import annotations

import pytest

from tests.support.command_line import Farpath


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--stacks=htpc",), "did you mean htcp"),
        (("--jobs=0",), "--jobs is 0"),
        (("--seeds=0",), "--seeds is 0"),
        (("--seeds=1", "--update"), "bounds need two runs"),
        (("--base=linux-source-7.2", "--update"), "leave out"),
        (("--baseline=none.toml",), "none.toml: cannot be read"),
        (("--head=none",), "linux-source-7.3, or the directory"),
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
