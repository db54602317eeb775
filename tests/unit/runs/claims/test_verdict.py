"""Conditions: what holds and what misses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from farpath.runs.claims import UNDECIDED, Condition
from farpath.runs.claims.verdict import state_of


@given(st.floats(-1e6, 1e6), st.sampled_from(["<", "<=", ">", ">="]), st.floats(-1e6, 1e6))
def test_a_condition_with_room_holds_and_one_that_misses_does_not(
    value: float, relation: str, limit: float
) -> None:
    condition = Condition("it", value, relation, limit)
    if condition.margin > 0:
        assert condition.holds
    elif condition.margin < 0:
        assert not condition.holds
        assert f"not {relation}" in str(condition)
    else:
        assert condition.holds == ("=" in relation)


def test_no_condition_decides_nothing() -> None:
    assert state_of(()) == UNDECIDED
