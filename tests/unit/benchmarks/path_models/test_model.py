"""Path models: what they make of a path, and what a deviation costs."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.path_models.model import PathModel, cost_of_means, cost_of_stack, pseudo_huber
from farpath.planning.path_files import path_by_name
from tests.support.printed_runs import as_printed, printed_of

MODEL = PathModel(600_000_000, 100.0, 1e-6, 0.2, 10.0, 4)


def test_a_model_takes_a_path_s_place_and_leaves_what_is_known() -> None:
    path = path_by_name("cern")
    changed = MODEL.on(path)
    assert (changed.rtt_ms, changed.window_bytes) == (path.rtt_ms, path.window_bytes)
    assert changed.buffer_bytes == 7_500_000
    assert changed.background
    assert changed.background.mean_rate_bps == pytest.approx(120e6)


def test_a_model_without_other_traffic_has_no_background() -> None:
    quiet = dataclasses.replace(MODEL, background_part=0.0)
    assert quiet.on(path_by_name("cern")).background is None


@given(st.lists(st.just(0.0) | st.floats(1e-3, 50) | st.floats(-50, -1e-3), min_size=1))
def test_the_cost_is_never_negative_and_nothing_only_without_deviation(
    deviations: list[float],
) -> None:
    assert pseudo_huber(deviations) >= 0
    assert (pseudo_huber(deviations) == 0) == (not any(deviations))


def test_a_great_deviation_counts_linearly() -> None:
    assert pseudo_huber([20.0]) / pseudo_huber([10.0]) == pytest.approx(2, rel=0.1)


def test_what_is_not_defined_is_dear() -> None:
    assert pseudo_huber([math.nan]) == pseudo_huber([10.0])


def test_what_is_printed_costs_nothing_against_itself() -> None:
    printed = printed_of("htcp_2004")
    assert set(cost_of_stack(as_printed("htcp_2004"), printed).values()) == {0.0}


def test_a_mean_off_by_a_tenth_costs_what_a_stability_off_by_its_goal_does() -> None:
    printed = printed_of("htcp_2004")
    exact = as_printed("htcp_2004")
    faster = dataclasses.replace(exact, mean_bps=1.1 * exact.mean_bps)
    unsteady = dataclasses.replace(exact, stability=exact.stability + 0.15)
    dear = cost_of_stack(unsteady, printed)["stability"]
    assert cost_of_stack(faster, printed)["mean"] == pytest.approx(dear)


def test_means_over_stacks_are_held_against_what_is_printed_of_a_path() -> None:
    printed = {name: as_printed(name) for name in ("htcp_2004", "reno_2004")}
    assert cost_of_means(printed, (0.28 + 0.66) / 2, (0.99 + 0.60) / 2) == pytest.approx(
        0, abs=1e-4
    )
    assert cost_of_means(printed, 0.1, 0.1) > 1
