"""Texts of stacks: one stack for each flow."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.planning import stack_texts
from farpath.planning.planner import make_plan
from farpath.spec.schedule import simultaneous
from farpath.spec.stack import IPERF3, Stack
from tests.support.paths import SHORT
from tests.support.refusals import refused


@pytest.mark.parametrize(
    ("text", "stacks"),
    [
        ("htcp", ("htcp",)),
        ("htcp + reno", ("htcp", "reno")),
        ("udt+2xreno", ("udt", "reno", "reno")),
        ("fast:alpha=100,gamma=50", ("fast:alpha=100,gamma=50",)),
        ("./tcp_mine.c", ("./tcp_mine.c",)),
    ],
)
def test_stacks_are_named_one_for_each_flow(text: str, stacks: tuple[str, ...]) -> None:
    assert stack_texts.parse_stacks(text) == stacks


@pytest.mark.parametrize("text", ["", "htcp+", "0xreno", "101xreno", "60xreno+60xhtcp"])
def test_flows_without_a_stack_or_too_many_are_refused(text: str) -> None:
    with refused("stack", text):
        stack_texts.parse_stacks(text)


def test_a_path_with_a_plus_is_told_so(tmp_path: FilePath) -> None:
    file = tmp_path / "a+b.c"
    file.touch()
    with pytest.raises(
        BadInputError, match="a \\+ joins stacks, so a path cannot have one; rename"
    ):
        stack_texts.parse_stacks(f"{file}:alpha=2")


def test_two_stacks_of_a_users_cannot_have_one_name() -> None:
    first, second = (
        Stack("mine", "mine", IPERF3, congestion="mine", module="tcp_mine", build=build)
        for build in ("one", "another")
    )
    schedule = simultaneous(["mine"], 5.0)
    assert make_plan(SHORT, schedule, 1, "virtual", user_stacks=[first, first]).stacks
    with pytest.raises(BadInputError, match="two of yours are called mine; rename the file"):
        make_plan(SHORT, schedule, 1, "virtual", user_stacks=[first, second])
