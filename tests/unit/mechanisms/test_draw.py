"""Draws: what they move, that they are undone, and how they are asked for."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.base.errors import BadInputError
from farpath.mechanisms.draw.mechanism import drawn, regions_of, undrawn
from farpath.metrics.one_draw import is_one_draw
from farpath.planning.plan_warnings import plan_warnings
from farpath.planning.request import RunRequest
from farpath.record.identity import plan_identity
from farpath.report.repeat import command_of
from farpath.runs.run_set import draws_of, draws_of_run, product_set, repeats
from farpath.spec.plan import Plan

CLEAN = RunRequest(rtt="20ms", rate="10Mbit", stack="2xreno", senders="rtt=30ms", time="60s")


def starts_s(plan: Plan) -> list[float]:
    return [flow.start_s for flow in plan.schedule.flows]


def test_flows_of_a_draw_start_up_to_a_round_trip_later_and_hosts_delay_packets() -> None:
    plans = [CLEAN.changed(draw=str(number)).plan() for number in range(1, 41)]
    for flow, most_s in ((0, 0.02), (1, 0.03)):
        later_s = [starts_s(plan)[flow] for plan in plans]
        assert len(set(later_s)) == len(later_s)
        assert 0 <= min(later_s) < 0.2 * most_s < 0.8 * most_s < max(later_s) <= most_s
    # Four packets of 1514 bytes at 10 Mbit/s, or a quarter of an RTT; a flow alone has no
    # phase to another
    assert {plan.era.jitter_ms for plan in plans} == {4.8448}
    alone = CLEAN.changed(draw="1", stack="reno", senders=None)
    assert alone.plan().era.jitter_ms == 0
    assert alone.changed(background="tcp:10%").plan().era.jitter_ms == 4.8448
    assert CLEAN.changed(draw="1", rtt="4ms", rate="1Mbit").plan().era.jitter_ms == 1
    assert [plan.seed for plan in plans] == list(range(1, 41))
    assert not any(map(is_one_draw, plans))


def test_one_draw_is_one_plan_and_without_it_the_plan_is_as_it_was() -> None:
    plain, draw = CLEAN.plan(), CLEAN.changed(draw="3").plan()
    assert draw == CLEAN.changed(draw="3").plan()
    assert draw == Plan.from_dict(draw.as_dict())
    assert len({plan_identity(plan) for plan in (plain, draw, CLEAN.changed(seed="3").plan())}) == 3
    assert undrawn(draw) == dataclasses.replace(plain, seed=3)
    assert drawn(plain) is None
    assert undrawn(plain) is plain


def test_a_draw_makes_no_region_and_no_warning_of_its_own() -> None:
    seven = RunRequest(rtt="300ms", rate="10Mbit", buffer="4MB", region="5s", stack="reno")
    regions = regions_of(seven.changed(draw="1").plan())
    assert regions == seven.plan().schedule.regions()
    deep = CLEAN.changed(buffer="40MB", senders=None)
    assert plan_warnings(deep.changed(draw="1").plan()) == plan_warnings(deep.plan())


def test_hosts_keep_a_jitter_of_their_own_and_get_none_where_programs_space_packets() -> None:
    own = CLEAN.changed(era="modern:jitter=50us", draw="2").plan()
    assert own.era.jitter_ms == 0.05
    assert undrawn(own).era.jitter_ms == 0.05
    spaced = RunRequest(rtt="20ms", stack="udt+reno", time="5s", draw="2").plan()
    assert spaced.era.jitter_ms == 0
    assert starts_s(spaced) != [0, 0]


def test_a_run_of_a_record_is_repeated_as_the_draw_that_it_was() -> None:
    draw = CLEAN.changed(draw="3")
    assert command_of(draw.plan(), draw.typed) == " ".join(["farpath run", *draw.options()])
    # Of a record that does not have its options the plan itself says them
    of_plan = command_of(draw.plan())
    assert of_plan is not None
    assert "--draw=3" in of_plan
    assert "--era" not in of_plan
    assert "--seed" not in of_plan


def test_draws_of_a_set_are_seeds_that_also_move_starts() -> None:
    runs = product_set(CLEAN.changed(seed="7"), {"rtt": ("10ms", "20ms")}, draws=2).runs
    assert [(run.name, run.plan.seed) for run in runs] == [
        ("rtt=10ms, draw 7", 7),
        ("rtt=10ms, draw 8", 8),
        ("rtt=20ms, draw 7", 7),
        ("rtt=20ms, draw 8", 8),
    ]
    assert [run.request and run.request["draw"] for run in runs] == ["7", "8", "7", "8"]
    assert all(drawn(run.plan) for run in runs)


def test_one_draw_of_a_question_is_its_run_as_it_is() -> None:
    (run,) = draws_of_run("clean", CLEAN, 1)
    assert run.plan == CLEAN.plan()
    assert len(draws_of_run("clean", CLEAN, None)) == 5
    for request, seeds in (
        (CLEAN, 3),
        (CLEAN.changed(draw="2"), 1),
        (CLEAN.changed(lab="host"), 1),
    ):
        assert draws_of(None, request, seeds) == 1


@pytest.mark.parametrize(
    ("request_", "complaint"),
    [
        (CLEAN.changed(draw="0"), "draw is '0': it must be a whole number"),
        (CLEAN.changed(draw="x"), "draw is 'x': it must be a whole number"),
        (CLEAN.changed(draw="2", seed="3"), "seed is 3, and a draw is a seed"),
        (RunRequest(rtt="20ms", time="5s", lab="host", draw="2"), "each run is another draw"),
    ],
)
def test_what_is_no_draw_is_refused(request_: RunRequest, complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint):
        request_.plan()


def test_draws_beside_seeds_or_of_a_draw_are_refused() -> None:
    with pytest.raises(BadInputError, match="each draw is a seed"):
        repeats(CLEAN, seeds=2, draws=2)
    with pytest.raises(BadInputError, match="it is one draw"):
        repeats(CLEAN.changed(draw="1"), draws=2)
    with pytest.raises(BadInputError, match="draws is '0'"):
        repeats(CLEAN, draws=0)
    with pytest.raises(BadInputError, match="draw has several values"):
        product_set(CLEAN, {"draw": ("1", "2")})
