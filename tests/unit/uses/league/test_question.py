"""The encounters of a league."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.request import RunRequest
from farpath.uses.league.question import plan_league

BASE = RunRequest(rtt="20ms", rate="20Mbit", time="5s")


def test_every_stack_is_alone_and_meets_every_other_one_and_itself_for_each_seed_and_rtt() -> None:
    league = plan_league(BASE, ("reno", "cubic", "bbr"), {"rtt": ("10ms", "40ms")}, 2)
    stacks = ["reno", "cubic", "bbr"]
    pairs = ["reno+reno", "reno+cubic", "reno+bbr", "cubic+cubic", "cubic+bbr", "bbr+bbr"]
    met = [(run.values["rtt"], run.values["stack"], run.plan.seed) for run in league.run_set.runs]
    assert met == [
        (rtt, pair, seed)
        for rtt in ("10ms", "40ms")
        for pair in (*stacks, *pairs)
        for seed in (1, 2)
    ]


@pytest.mark.parametrize(
    ("stacks", "complaint"),
    [
        (("reno",), "stack is 'reno': a league needs two stacks or more"),
        (("reno", "2xcubic"), "stack is '2xcubic': in a league each is one flow"),
        (("reno", "reno"), "are the same run"),
        (("reno", "nosuch"), "nosuch"),
    ],
)
def test_what_is_no_league_is_refused(stacks: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint):
        plan_league(BASE, stacks, {}, 1)
