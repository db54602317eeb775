"""A rule under random losses: its mean window and the error of this."""

from __future__ import annotations

import pytest

from farpath.metrics.theory import window_rules
from farpath.metrics.theory.response import mean_window, standard_error


def test_playing_a_rule_that_remembers_leaves_it_as_it_was() -> None:
    rule = window_rules.Bic()
    assert mean_window(rule, 1e-3) == mean_window(rule, 1e-3)
    assert rule == window_rules.Bic()


def test_the_error_of_a_mean_falls_with_the_number_of_losses() -> None:
    few, many = (standard_error(window_rules.reno(), 1e-3, losses) for losses in (50, 800))
    assert few / many == pytest.approx(4, rel=0.5)
