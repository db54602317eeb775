"""Droppers: which packets they mean, and plans that have some."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.mechanisms.dropper.mechanism import parse_droppers
from farpath.spec.dropper import Dropper
from farpath.spec.plan import Plan
from tests.support.plans import with_droppers


@given(
    enter=st.floats(1e-4, 0.2),
    leave=st.floats(0.05, 1.0),
    loss=st.floats(0.1, 1.0),
    seed=st.integers(1, 100),
)
def test_bursts_lose_what_a_gilbert_elliott_chain_does(
    enter: float, leave: float, loss: float, seed: int
) -> None:
    count = 200_000
    positions = Dropper("burst", (enter, leave, loss)).positions(seed, count)
    assert list(positions) == sorted(set(positions))
    assert not positions or 1 <= positions[0] <= positions[-1] <= count
    part = enter / (enter + leave) * loss
    # Losses of one burst come together: their number varies as if there were fewer of them.
    deviation = (part * (1 / leave + 1) * 2 / count) ** 0.5
    assert abs(len(positions) / count - part) < 6 * deviation


@given(loss=st.floats(1e-4, 1.0), seed=st.integers(1, 100))
def test_random_losses_are_as_many_as_chance_gives_and_repeat_after_their_cycle(
    loss: float, seed: int
) -> None:
    dropper = Dropper("random", (loss,))
    cycle = dropper.cycle_packets
    positions = dropper.positions(seed, cycle)
    assert list(positions) == sorted(set(positions))
    assert 1 <= positions[0] <= positions[-1] <= cycle
    assert abs(len(positions) - loss * cycle) <= 6 * (cycle * loss * (1 - loss)) ** 0.5
    assert dropper.expected(2 * cycle + positions[0], seed) == 2 * len(positions) + 1


def test_a_longer_look_finds_the_same_bursts_and_more() -> None:
    dropper = Dropper("burst", (0.01, 0.3))
    short, long = dropper.positions(3, 1_000), dropper.positions(3, 10_000)
    assert long[: len(short)] == short
    assert dropper.positions(4, 10_000) != long


def test_a_plan_comes_back_with_its_droppers_and_another_path_name(plan: Plan) -> None:
    dropping = with_droppers(plan, parse_droppers("at:3s,flow=flow1 every:9,direction=back"))
    assert Plan.from_dict(dropping.as_dict()) == dropping
    assert dropping.path.name == "cern-dropping"
    older = plan.as_dict()
    del older["droppers"]
    assert Plan.from_dict(older) == plan


@pytest.mark.parametrize("loss", [1e-12, 1e-9])
def test_a_burst_that_neither_ends_nor_loses_is_looked_at_no_further_than_asked(
    loss: float,
) -> None:
    assert Dropper("burst", (1.0, 1e-12, loss)).positions(1, 10_000) == ()
