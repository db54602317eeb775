"""Shares and standings of a league."""

from __future__ import annotations

import dataclasses
import math

import pytest

from farpath.runs.run_set import RunSet
from farpath.uses.league.conditions import Conditions, conditions_of
from farpath.uses.league.harm import harms
from farpath.uses.league.measure import Encounter, by_conditions, shares_of, standings
from farpath.uses.league.page import render_league
from farpath.uses.league.question import League
from farpath.uses.league.share_intervals import chances
from farpath.uses.league.table import (
    encounters_table,
    harm_table,
    pairs_table,
    shares_table,
    standings_table,
)

LEAGUE = League(("meek", "fair", "greedy"), RunSet(()))
SHARES = {
    ("meek", "meek"): 1.0,
    ("fair", "fair"): 0.9,
    ("greedy", "greedy"): 0.6,
    ("meek", "fair"): 0.8,
    ("meek", "greedy"): 0.1,
    ("fair", "greedy"): 0.7,
}


def meeting(stack: str, other: str, share: float, seed: int = 1) -> list[Encounter]:
    """Both sides of a run in which ``stack`` had a share."""
    return [
        Encounter(
            *(part, part * 5e6, 3, None, 0.9, 20.0, 60.0, 0.01, 20.0),
            *({}, name, beside, seed, "record"),
        )
        for name, beside, part in ((stack, other, share), (other, stack, 2 - share))
    ]


def under(found: tuple[Encounter, ...], alone: tuple[Encounter, ...] = ()) -> Conditions:
    """The runs of a league with one set of conditions."""
    (one,) = conditions_of(found, alone)
    return one


FOUND = tuple(each for pair, share in SHARES.items() for each in meeting(*pair, share))


def test_the_sides_of_a_run_are_each_others_rest_and_of_one_stack_the_smaller_counts() -> None:
    shares = shares_of(FOUND)
    assert math.isclose(shares["greedy", "meek"].median, 1.9)
    assert math.isclose(shares["greedy", "greedy"].median, 0.6)


def test_a_share_of_several_runs_is_their_median_and_has_a_range() -> None:
    parts = (0.9, 0.1, 0.7)
    found = tuple(
        dataclasses.replace(each, draw=seed)
        for seed, part in enumerate(parts, 1)
        for each in meeting("meek", "fair", part, seed)
    )
    share = shares_of(found)["meek", "fair"]
    assert (share.median, share.least, share.most, share.count) == (0.7, 0.1, 0.9, 3)
    assert shares_table(LEAGUE, under(found)).lines[0] == ("meek", "-", "70 (10-90)", "-")
    (row,) = (row for row in pairs_table(conditions_of(found)).objects if row["stack"] == "meek")
    assert (row["runs"], row["share_median"], row["share_most"]) == (3, 0.7, 0.9)
    page = render_league(LEAGUE, conditions_of(found), ())
    assert "10 to 90 in 3 runs" in page
    assert "Medians (and ranges) of 3 draws." in page


def test_harm_is_what_a_stack_lacks_beside_another_of_what_it_has_alone() -> None:
    # Alone 10 Mbit/s, an RTT of 20 ms and no loss
    solo = dataclasses.replace(
        FOUND[0], throughput_bps=10e6, delay_ms=0.0, delay_p99_ms=20.0, lost_fraction=0.0, other=""
    )
    beside = [each for each in FOUND if (each.stack, each.other) == ("meek", "greedy")]
    assert harms([solo], beside) == {
        "throughput": pytest.approx(0.95),
        "rtt_p95": 0.5,
        "rtt_p99": 0.5,
        "loss": 1.0,
        "completion": None,
    }
    assert harms([], beside)["loss"] is None
    better = dataclasses.replace(solo, throughput_bps=0.0)
    assert harms([better], beside)["throughput"] == 0
    (row,) = (
        row
        for row in pairs_table(conditions_of(FOUND, (solo,))).objects
        if (row["stack"], row["other"]) == ("meek", "greedy")
    )
    assert row["harm_throughput"] == pytest.approx(0.95)
    lines = harm_table(LEAGUE, under(FOUND, (solo,))).lines
    assert ("meek", "greedy", "95", "50", "50", "100", "-") in lines
    assert ("fair", "greedy", "-", "-", "-", "-", "-") in lines
    assert ">harm to</th>" in render_league(LEAGUE, conditions_of(FOUND, (solo,)), ())


def of_draws(stack: str, other: str, shares: tuple[float, ...]) -> list[Encounter]:
    """Both sides of a run for each share, which are draws."""
    return [
        dataclasses.replace(each, draw=draw)
        for draw, share in enumerate(shares, 1)
        for each in meeting(stack, other, share, draw)
    ]


DRAWN = (
    *of_draws("meek", "meek", (0.97, 0.99, 0.95, 0.98, 0.96)),
    *of_draws("greedy", "greedy", (0.9, 0.8, 0.95, 0.85, 0.99)),
    *of_draws("meek", "greedy", (0.30, 0.34, 0.26, 0.31, 0.38)),
)


def test_draws_give_shares_an_interval_and_tell_how_many_more_a_difference_needs() -> None:
    chance = chances(DRAWN, ())["meek", "greedy"]
    # The bootstrap of a median of five is their range
    assert (chance.share.low, chance.share.high) == (0.26, 0.38)
    # Their deviation is 0.045, nine tenths of the difference: 14 of either league (Cohen 1988)
    assert chance.runs_needed == 14
    note = shares_table(LEAGUE, under(DRAWN)).note
    assert "To see a difference of 5 % of a fair half (power 80 %) takes 3 draws or more" in note
    assert "for greedy beside greedy 38" in note


def test_a_stack_that_fares_worse_than_beside_itself_does_so_by_more_than_chance() -> None:
    solo = [dataclasses.replace(each, other="", throughput_bps=10e6) for each in DRAWN[:10:2]]
    found = chances(DRAWN, solo)
    assert found["meek", "greedy"].own_p < 0.001
    assert math.isnan(found["meek", "meek"].own_p)
    # Shares of 0.30 to 0.38 of 5 Mbit/s each, of 10 Mbit/s alone
    harm = found["meek", "greedy"].of_harm("throughput")
    assert [harm.low, harm.high] == pytest.approx([0.81, 0.87])
    (row,) = (
        row
        for row in pairs_table(conditions_of(DRAWN, tuple(solo))).objects
        if (row["stack"], row["other"]) == ("meek", "greedy")
    )
    assert (row["share_low"], row["draws_for_5_percent"]) == (0.26, 14)
    assert row["harm_throughput_low"] == pytest.approx(0.81)
    assert row["own_p"] == found["meek", "greedy"].own_p
    table = harm_table(LEAGUE, under(DRAWN, tuple(solo)))
    (line,) = (line for line in table.lines if line[:2] == ("meek", "greedy"))
    assert (line[2], line[-1]) == ("84 (81-87)", "0.000")
    note = shares_table(LEAGUE, under(DRAWN)).note
    assert "In 2 of 2 encounters a stack's throughput differs from that beside itself" in note


def test_one_run_of_a_pair_has_no_chance_to_tell_of() -> None:
    assert not chances(FOUND, ())["meek", "greedy"].share.is_known
    assert "To see a difference" not in shares_table(LEAGUE, under(FOUND)).note


def test_who_starves_and_who_is_starved_stand_below_who_does_neither() -> None:
    rows = standings(LEAGUE, FOUND)
    assert rows[0].stack == "fair"
    assert {row.stack for row in rows[1:]} == {"meek", "greedy"}
    (greedy,) = (row for row in rows if row.stack == "greedy")
    assert greedy.left_least == (0.1, "meek")
    assert math.isclose(greedy.won_mean, (1.9 + 1.3) / 2)
    assert greedy.own_least == 0.6


def test_a_stack_without_all_its_encounters_has_no_standing() -> None:
    without = tuple(each for each in FOUND if {each.stack, each.other} != {"meek", "greedy"})
    assert [row.stack for row in standings(LEAGUE, without)] == ["fair"]
    assert shares_table(LEAGUE, under(without)).lines[0] == ("meek", "100", "80", "-")


def test_tables_and_page_show_the_shares() -> None:
    assert list(by_conditions(FOUND)) == [""]
    assert shares_table(LEAGUE, under(FOUND)).lines[2] == ("greedy", "190", "130", "60")
    assert standings_table(LEAGUE, under(FOUND)).lines[0][:3] == ("fair", "95", "70 beside greedy")
    assert len(encounters_table(FOUND).data) == 12
    page = render_league(LEAGUE, conditions_of(FOUND), ("All runs have RTT=20ms",))
    assert ">190</td>" in page
    assert "All runs have RTT=20ms." in page
    assert ">share beside</th>" in page


def test_the_order_of_the_league_table_is_in_its_heading_and_who_is_meant_in_its_cells() -> None:
    table = standings_table(LEAGUE, Conditions("rtt 20ms", FOUND))
    assert table.title == (
        "League table, rtt 20ms, by the least share that any flow had, the largest first"
    )
    row = dict(zip(table.header, table.lines[-1], strict=True))
    assert row["its least share"] in ("10 beside greedy", "130 beside fair")
    assert row["least share left to another"] in ("120 to fair", "10 to meek")
    assert table.keys[2:6] == ("share_least", "beside", "left_least", "left_to")


def test_several_runs_are_spoken_of_where_there_are_several() -> None:
    twice = (*FOUND, *(dataclasses.replace(each, seed=2) for each in FOUND))
    for found, words in (
        (FOUND, "Each is of one run."),
        (twice, "Medians (and ranges) of 2 seeds."),
    ):
        assert words in shares_table(LEAGUE, under(found)).note
        assert words in standings_table(LEAGUE, under(found)).note
        assert words in render_league(LEAGUE, conditions_of(found), ())


def test_a_cell_leads_to_its_run() -> None:
    page = render_league(LEAGUE, conditions_of(FOUND), (), {"record": "../record/page.html"})
    assert page.count('href="../record/page.html">') == 9
    assert 'href="../record/page.html">190</a></td>' in page
