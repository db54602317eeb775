"""farpath conformance: what is refused, and the list of scenarios."""

from __future__ import annotations

import pytest

from tests.support.command_line import Farpath


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("htcp",), "the stack 'htcp': give one of reno, cubic, bbr"),
        (("cubic:gamma=1",), "gamma"),
        (("reno", "--only=timeuot"), "--only is 'timeuot'"),
        (("reno", "--cores=0"), "--cores is 0"),
        (("reno", "--kernel=none"), "linux-source-7.3 or 7.3, or the directory"),
        (("reno", "--kernel=sender=7.3"), "--kernel is 'sender=7.3': it must be one kernel"),
    ],
)
def test_bad_requests_are_refused_in_one_line(
    farpath: Farpath, options: tuple[str, ...], message: str
) -> None:
    ended = farpath("conformance", *options)
    assert ended.status == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_the_scenarios_are_listed_without_a_lab(farpath: Farpath) -> None:
    ended = farpath("conformance", "cubic", "--list")
    assert ended.status == 0
    assert "fast-convergence" in ended.out
    assert "RFC 9438, 4.7" in ended.out
