"""Runs in which nothing is random: which these are, and what is said of them."""

from __future__ import annotations

import dataclasses
import math

import pytest

from farpath.metrics.estimate import Estimate, are_alike, estimate_over_seeds
from farpath.metrics.one_draw import is_one_draw, is_random, one_draw_notes, one_draw_sentences
from farpath.planning.request import RunRequest
from farpath.report.tables.run_table import mean_text, seeds_words

CLEAN = RunRequest(rtt="20ms", rate="10Mbit", stack="cubic+reno", time="5s")


def test_two_flows_at_a_drop_tail_queue_are_one_draw_and_are_told_what_would_be_several() -> None:
    (sentence,) = one_draw_sentences(CLEAN.plan())
    assert sentence.startswith("One draw: nothing in this run is random")
    assert "several draws (DRAW=1, DRAW=2 ...; --draws=5 of sweeps and leagues)" in sentence
    told = CLEAN.changed(draw="1").plan()
    assert not is_one_draw(told)
    assert one_draw_notes([CLEAN.plan(), told])[0].startswith(
        "One draw: nothing is random in 1 of 2 runs"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"loss": "1e-4"},
        {"jitter": "1ms"},
        {"reorder": "0.1%"},
        {"duplicate": "0.1%"},
        {"background": "25%"},
        {"background": "tcp:10%"},
        {"drop": "random:1e-3"},
        {"drop": "burst:1e-4,0.3"},
        {"queue": "fq_codel"},
        {"stack": "bbr+cubic"},
        {"stack": "udt+reno"},
        {"stack": "reno"},
        {"path": "cern", "rtt": None, "rate": None},
    ],
)
def test_a_run_with_anything_random_or_with_one_flow_is_not(change: dict[str, str]) -> None:
    assert one_draw_sentences(dataclasses.replace(CLEAN, **change).plan()) == ()


@pytest.mark.parametrize(
    "change", [{"background": "cbr:1Mbit"}, {"drop": "every:1000"}, {"senders": "rtt=21ms"}]
)
def test_what_is_fixed_makes_nothing_random(change: dict[str, str]) -> None:
    assert is_one_draw(dataclasses.replace(CLEAN, **change).plan())


def test_runs_that_differ_in_the_order_of_their_starts_alone_have_no_interval_of_zero() -> None:
    assert not is_random(CLEAN.plan())
    assert is_random(CLEAN.changed(loss="1e-4").plan())
    seeds = Estimate(18.87, 0.004, 2)
    assert mean_text(seeds, 2, True) == "18.87"
    assert mean_text(seeds, 3, True) == "18.870 ± 0.004"
    assert mean_text(seeds, 2, False) == "18.87 ± 0.00"
    unknown = estimate_over_seeds([math.nan, math.nan], ["a", "b"])
    assert mean_text(unknown, 2, True) == "-"
    assert "the same packets" not in one_draw_sentences(CLEAN.plan())[0]


def test_runs_that_are_equal_packet_for_packet_have_no_interval() -> None:
    assert math.isnan(estimate_over_seeds([5.0, 5.0], ["a", "a"]).half_width)
    assert estimate_over_seeds([5.0, 5.0], ["a", "b"]).half_width == 0.0
    assert math.isnan(estimate_over_seeds([5.0], ["a"]).half_width)
    assert seeds_words(2, are_alike(["a", "a"])) == "2, not random"
    assert seeds_words(1, are_alike(["a"])) == "1"
