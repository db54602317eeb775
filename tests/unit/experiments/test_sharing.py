"""Sharing: when a newcomer has its part."""

from __future__ import annotations

import pandas as pd
import pytest

from farpath.metrics import sharing
from farpath.spec.schedule import Schedule, staggered


def newcomer(gives_s: float, part: float = 0.5) -> tuple[pd.DataFrame, Schedule]:
    """Two flows of 100 Mbit/s in all: 60 s alone, then a straight way to a part of it."""
    seconds = pd.RangeIndex(1, 121)
    fraction = (1 - part) * ((seconds - 60) / gives_s).to_series().clip(0, 1).to_numpy()
    first, second = 1e8 * (1 - fraction), 1e8 * fraction
    each = pd.DataFrame({"flow1": first, "flow2": second}, index=seconds)
    return each, staggered(["htcp", "htcp"], 60)


@pytest.mark.parametrize("gives_s", [10, 40])
def test_flows_share_when_none_is_further_than_a_fifth_from_half(gives_s: int) -> None:
    # 60 to 40 is reached after 0.8 of the way; what is smoothed over 5 s is a whole second
    each, schedule = newcomer(gives_s)
    assert sharing.share_time_s(each, schedule) == pytest.approx(0.8 * gives_s, abs=1)


@pytest.mark.parametrize("gives_s", [10, 40])
def test_a_flow_has_given_way_when_it_has_half_of_what_it_had(gives_s: int) -> None:
    each, schedule = newcomer(gives_s, part=0.25)
    assert sharing.halving_time_s(each, schedule) == pytest.approx(gives_s * 2 / 3, abs=1)


def test_a_newcomer_that_gets_little_shares_never_and_halves_nobody() -> None:
    each, schedule = newcomer(10, part=0.7)
    assert sharing.share_time_s(each, schedule) is None
    assert sharing.halving_time_s(each, schedule) is None


def regions(each: pd.DataFrame, schedule: Schedule) -> list[float | None]:
    return [sharing.fair_for_good_s(each, region) for region in schedule.regions()]


@pytest.mark.parametrize("gives_s", [10, 40])
def test_flows_that_share_and_stay_so_share_for_good_from_then_on(gives_s: int) -> None:
    alone, joint = regions(*newcomer(gives_s))[:2]
    assert alone is None
    assert joint == pytest.approx(0.8 * gives_s, abs=1)


def test_flows_that_part_again_share_for_good_only_when_they_meet_for_the_last_time() -> None:
    each, schedule = newcomer(10)
    # From second 85 to 95 one has four fifths, as a stack does that starves the other
    each.loc[85:95, ["flow1", "flow2"]] = [8e7, 2e7]
    assert sharing.share_time_s(each, schedule) == pytest.approx(8, abs=1)
    assert regions(each, schedule)[1] == pytest.approx(36, abs=2)


def test_flows_that_part_at_the_end_never_share_for_good() -> None:
    each, schedule = newcomer(10)
    each.loc[116:, ["flow1", "flow2"]] = [1e8, 0.0]
    assert regions(each, schedule)[1] is None
