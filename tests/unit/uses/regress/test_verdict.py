"""Verdicts: identical, within bounds, changed, new."""

from __future__ import annotations

from farpath.uses.regress.verdict import CaseState, judge, worst_state
from tests.support.baselines import KNOWN


def test_an_equal_fingerprint_is_identical_whatever_else_there_is() -> None:
    assert judge("x/y", KNOWN, "aa", {"throughput_mbps": 1.0}).state == CaseState.IDENTICAL


def test_another_fingerprint_is_judged_by_the_bounds_of_each_metric() -> None:
    within = judge("x/y", KNOWN, "bb", {"throughput_mbps": 86.0, "retransmits": 3})
    assert (within.state, within.differences) == (CaseState.WITHIN, ())
    changed = judge("x/y", KNOWN, "bb", {"throughput_mbps": 84.0, "retransmits": 3})
    assert changed.state == CaseState.CHANGED
    (difference,) = changed.differences
    assert str(difference) == "throughput_mbps: 90 -> 84 (-6.7 %), bounds 85 to 95"


def test_a_metric_that_comes_or_goes_is_a_change() -> None:
    verdict = judge("x/y", KNOWN, "bb", {"throughput_mbps": 90.0, "recovery_s": 2.0})
    assert [str(each) for each in verdict.differences] == [
        "retransmits: 3 -> none, bounds 3 to 3",
        "recovery_s: none -> 2, bounds none",
    ]


def test_a_run_that_no_baseline_has_is_new_and_not_fine() -> None:
    assert judge("x/y", None, "aa", {}).state == CaseState.NEW
    assert (
        worst_state([judge("x/y", KNOWN, "aa", {}), judge("x/z", None, "aa", {})]) == CaseState.NEW
    )
