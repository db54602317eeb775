"""Texts of droppers: what they mean, and what makes none."""

from __future__ import annotations

from typing import Any

import pytest

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.mechanisms.dropper.mechanism import (
    check_droppers,
    check_program_droppers,
    parse_droppers,
)
from farpath.spec.plan import Plan
from tests.support.plans import with_droppers


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("every:1e6", ["every:1000000"]),
        ("packets:1000,2000,flow=flow2", ["packets:1000,2000,flow=flow2"]),
        ("at:1min,30.5s", None),
        ("at:30.5s,1min", ["at:30.5s,60s"]),
        ("random:0.01%", ["random:0.0001"]),
        (" burst:1e-4,30%,0.5 ", ["burst:0.0001,0.3,0.5"]),
        ("every:9 every:9,direction=back", ["every:9", "every:9,direction=back"]),
        ("every:9,flow=flow1 at:3s,flow=flow2", ["every:9,flow=flow1", "at:3s,flow=flow2"]),
        ("outage:5s,0.2min", ["outage:5s,12s"]),
        ("outage:5s,8s,9s,10s,direction=back", ["outage:5s,8s,9s,10s,direction=back"]),
    ],
)
def test_a_text_means_droppers_that_read_the_same_again(text: str, means: list[str] | None) -> None:
    if means is None:
        with pytest.raises(BadInputError, match="in their order"):
            parse_droppers(text)
        return
    droppers = parse_droppers(text)
    assert [str(dropper) for dropper in droppers] == means
    assert parse_droppers(" ".join(means)) == droppers


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "leave it out, or give a dropper"),
        ("every", "as in every:1000"),
        ("every:1.5", "'1.5' must be a whole number"),
        ("every:1,2", "give one whole number"),
        ("every:1e12", "must be a whole number"),
        ("packets:", "give whole numbers"),
        ("packets:2,2", "each packet once"),
        ("at:3", "a number without a unit"),
        ("at:", "give times"),
        ("outage:5s", "begin and end of each outage"),
        ("outage:8s,5s", "in their order"),
        ("outage:5,8", "a number without a unit"),
        ("random:0", "from 5e-08 to 1"),
        ("random:1e-12", "from 5e-08 to 1"),
        ("random:nan", "no finite number"),
        ("random:2", "out of range"),
        ("burst:1e-4", "two or three"),
        ("every:0", "give one whole number from 1"),
        ("every:-5", "'-5' must be a whole number"),
        ("packets:0", "give whole numbers from 1"),
        ("packets:6,5", "in their order"),
        ("burst:1e-4,0", "from 1e-12 to 1"),
        ("burst:1e-320,0.5", "from 1e-12 to 1"),
        ("burst:nan,0.1", "no finite number"),
        ("every:,,10", "a word is missing at a comma"),
        ("every:9,", "a word is missing at a comma"),
        ("every:9,flow=", "flow needs a value"),
        ("every:9,direction=there,direction=back", "direction is given twice"),
        ("every:9,side=left", "'side' is none of flow, direction"),
        ("every:9 at:3s", "count the same packets"),
        ("every:9,flow=flow1 at:3s,flow=flow1", "count the same packets"),
        ("every:9 at:3s,flow=flow1", "count the same packets"),
    ],
)
def test_what_makes_no_dropper_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint):
        parse_droppers(text)


def after_dropper(**counts: int) -> dict[str, Any]:
    return {"after": {"droppers": [{"dropper": "it", **counts}]}}


@pytest.mark.parametrize(
    ("drop", "seen", "lost", "complaint"),
    [
        ("every:10", 99, 9, ""),
        ("every:10", 99, 10, "took 10 of 99 packets, not 9"),
        ("packets:5,100", 99, 1, "not 2: a packet that it should drop never came"),
        ("packets:5,100", 100, 2, ""),
        ("at:3s,4s", 99, 2, ""),
        ("at:3s,4s", 99, 1, "never came"),
        ("burst:1e-6,0.3", 10**9, 0, "more than its bursts were drawn for"),
        ("random:1e-6", 10**9, 1000, "more than its losses were drawn for"),
        ("every:10", 0, 0, "saw no packet"),
        ("random:0.1,direction=back", 0, 0, "saw no packet"),
    ],
)
def test_a_run_fails_if_others_were_lost_than_asked(
    plan: Plan, drop: str, seen: int, lost: int, complaint: str
) -> None:
    dropping = with_droppers(plan, parse_droppers(drop))
    if not complaint:
        check_droppers(after_dropper(seen=seen, lost=lost), dropping)
        return
    with pytest.raises(CheckFailedError, match=complaint):
        check_droppers(after_dropper(seen=seen, lost=lost), dropping)


def test_random_losses_are_those_of_the_seed(plan: Plan) -> None:
    dropping = with_droppers(plan, parse_droppers("random:0.1"))
    lost = len(dropping.droppers[0].positions(plan.seed, 1000))
    check_droppers(after_dropper(seen=1000, lost=lost), dropping)
    with pytest.raises(CheckFailedError, match=f"took {lost + 1} of 1,000 packets, not {lost}"):
        check_droppers(after_dropper(seen=1000, lost=lost + 1), dropping)


@pytest.mark.parametrize("drop", ["every:1000", "random:1e-6", "burst:1e-6,0.5"])
def test_a_dropper_whose_turn_never_came_is_warned_of(plan: Plan, drop: str) -> None:
    dropping = with_droppers(plan, parse_droppers(drop))
    (warning,) = check_droppers(after_dropper(seen=999, lost=0), dropping)
    assert warning == f"DROP {dropping.droppers[0]} lost nothing: it saw 999 packets"


def test_a_dropper_that_took_some_is_not_warned_of(plan: Plan) -> None:
    dropping = with_droppers(plan, parse_droppers("every:1000"))
    assert check_droppers(after_dropper(seen=1000, lost=1), dropping) == []


@pytest.mark.parametrize(
    ("drop", "seen", "lost", "complaint"),
    [
        ("every:10", 99, 9, ""),
        ("every:10", 99, 8, "took 8 of 99 packets, not 9"),
        ("packets:5,100", 100, 2, ""),
        ("packets:5,100", 100, 1, "took 1 of 100 packets, not 2"),
        ("at:3s,4s", 99, 2, ""),
        ("at:3s,4s", 99, 3, "took 3 of 99 packets, not 2"),
    ],
)
def test_a_dropper_of_programs_takes_no_other_number_of_packets(
    plan: Plan, drop: str, seen: int, lost: int, complaint: str
) -> None:
    dropping = with_droppers(plan, parse_droppers(drop))
    readback = after_dropper(seen=seen, lost=lost)
    if not complaint:
        assert check_program_droppers(readback, dropping, 4.5) == []
        return
    with pytest.raises(CheckFailedError, match=complaint):
        check_program_droppers(readback, dropping, 4.5)


@pytest.mark.parametrize(
    ("drop", "seen", "lost"),
    [("every:10", 9, 0), ("every:10", 0, 0), ("packets:5,100", 99, 1), ("at:3s,9s", 99, 1)],
)
def test_a_dropper_of_programs_that_ended_before_its_turn_is_warned_of(
    plan: Plan, drop: str, seen: int, lost: int
) -> None:
    dropping = with_droppers(plan, parse_droppers(drop))
    found = check_program_droppers(after_dropper(seen=seen, lost=lost), dropping, 4.5)
    assert found == [f"DROP {dropping.droppers[0]} lost {lost} packets: it saw {seen}"]


def test_an_outage_may_take_any_number_of_packets_and_is_warned_of_if_none(plan: Plan) -> None:
    dropping = with_droppers(plan, parse_droppers("outage:5s,8s"))

    def counted(lost: int) -> list[str]:
        return check_droppers({"after": {"droppers": [{"seen": 90, "lost": lost}]}}, dropping)

    assert counted(7) == counted(61) == []
    (warning,) = counted(0)
    assert "outage:5s,8s lost nothing" in warning


def test_an_outage_must_end_while_its_flows_send(plan: Plan) -> None:
    with pytest.raises(BadInputError, match="give an earlier time"):
        with_droppers(plan, parse_droppers("outage:5s,9999s"))
