"""Background traffic: who sends when, from a seed alone."""

from __future__ import annotations

import dataclasses
import json
from itertools import pairwise
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.base.errors import BadInputError
from farpath.spec.background import Background, OnPeriod, on_periods, sent_bytes
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.wire import from_wire
from tests.support.plans import BUSY

backgrounds = st.builds(
    Background,
    sources=st.integers(1, 8),
    rate_bps=st.integers(100_000, 1_000_000_000),
    on_s=st.floats(0.1, 100.0),
    off_s=st.floats(0.1, 100.0),
)


@given(backgrounds, st.integers(1, 2**31 - 1))
def test_a_source_s_turns_never_overlap_and_lie_within_the_schedule(
    background: Background, seed: int
) -> None:
    for source in range(background.sources):
        mine = [turn for turn in on_periods(background, seed, 100.0) if turn.source == source]
        assert all(0 <= turn.start_s < turn.stop_s <= 100.0 for turn in mine)
        # A pause of less than half a microsecond is none
        assert all(before.stop_s <= after.start_s for before, after in pairwise(mine))


def test_equal_seeds_give_equal_turns_and_another_seed_others() -> None:
    assert on_periods(BUSY, 1, 960.0) == on_periods(BUSY, 1, 960.0)
    assert on_periods(BUSY, 1, 960.0) != on_periods(BUSY, 2, 960.0)


def test_a_shorter_schedule_has_the_beginning_of_a_longer_one() -> None:
    long, short = on_periods(BUSY, 1, 960.0), on_periods(BUSY, 1, 100.0)
    begun = [turn for turn in long if turn.start_s < 100.0]
    assert [turn.start_s for turn in begun] == [turn.start_s for turn in short]


def test_turns_are_as_long_and_as_many_as_stated() -> None:
    """Over 200,000 s: 10,000 turns a source; their mean is known to 1 %."""
    periods = [turn for turn in on_periods(BUSY, 1, 200_000.0) if turn.source == 0]
    lengths_s = [turn.stop_s - turn.start_s for turn in periods]
    print(f"mean turn {fmean(lengths_s):.3f} s, predicted {BUSY.on_s}")
    assert fmean(lengths_s) == pytest.approx(BUSY.on_s, rel=0.04)
    mean_bps = 8 * sent_bytes(BUSY, 1, 200_000.0) / 200_000.0
    print(f"mean rate {mean_bps:.4g} bit/s, predicted {BUSY.mean_rate_bps:.4g}")
    assert mean_bps == pytest.approx(BUSY.mean_rate_bps, rel=0.03)


@pytest.mark.parametrize(
    ("field", "value"), [("sources", 0), ("rate_bps", 1), ("on_s", 0.0), ("off_s", 1e9)]
)
def test_a_value_out_of_range_is_named(field: str, value: float) -> None:
    changed: dict[str, Any] = {field: value}
    with pytest.raises(BadInputError) as caught:
        dataclasses.replace(BUSY, **changed)
    assert caught.value.option == "background"
    assert caught.value.problem.startswith(f"{field} is ")


def test_a_constant_rate_is_one_turn_from_beginning_to_end() -> None:
    constant = Background.constant(200_000_000)
    assert on_periods(constant, 7, 60.0) == (OnPeriod(0, 0.0, 60.0),)
    assert sent_bytes(constant, 7, 60.0) == 1.5e9
    assert constant.mean_rate_bps == 200e6
    assert str(constant) == "1 x 200 Mbit/s, always on"


def test_a_path_comes_back_from_its_plan_with_its_background(busy: Plan) -> None:
    assert Plan.from_dict(json.loads(busy.to_json())).path == busy.path


def test_a_plan_of_before_background_traffic_has_none(plan: Plan) -> None:
    data = plan.as_dict()["path"]
    del data["background"]
    assert from_wire(Path, data).background is None
