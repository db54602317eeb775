"""Window rules: they give the windows that are published of their stacks."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest

from farpath.metrics.theory import window_rules
from farpath.metrics.theory.response import Rule, mean_window

#: Random losses leave more than those at equal distances, for which formulas are: of Reno
#: 1.31 against 1.22 of 1 / sqrt(p) (Ott, Kemperman, Mathis, 1996).
RANDOM_OVER_EQUAL = 1.31 / math.sqrt(1.5)


@pytest.mark.parametrize("loss", [1e-5, 1e-4, 1e-3])
def test_reno_under_random_losses_has_the_window_of_ott_kemperman_and_mathis(loss: float) -> None:
    ratio = mean_window(window_rules.todays_reno(), loss) / window_rules.reno_window(loss)
    print(f"random over equal distances {ratio:.3f} / {RANDOM_OVER_EQUAL:.3f}")
    assert ratio == pytest.approx(RANDOM_OVER_EQUAL, rel=0.05)


@pytest.mark.parametrize(
    ("rule", "published"),
    [
        (window_rules.hstcp(), window_rules.hstcp_window),
        (window_rules.scalable(), window_rules.scalable_window),
        (window_rules.ltcp(), window_rules.ltcp_window),
    ],
)
def test_high_speed_rules_have_about_the_published_window(
    rule: Rule, published: Callable[[float], float]
) -> None:
    # HSTCP's a(w) is cut to whole packets: at 1e-4, where it is 2 to 4, by a sixth on average
    for loss in (1e-5, 1e-4):
        ratio = mean_window(rule, loss) / published(loss)
        print(f"p {loss:g}: {ratio:.3f}")
        assert 0.8 < ratio < 1.2


def test_rows_of_hstcp_are_those_of_rfc_3649() -> None:
    windows, decreases = window_rules.appendix_b()
    for window, increase, decrease in [(118, 2, 0.44), (1058, 8, 0.33), (14424, 35, 0.19)]:
        assert windows[increase - 1] == window
        assert decreases[increase - 1] == pytest.approx(decrease)


def test_delayed_acks_take_the_root_of_two_from_renos_window() -> None:
    each = mean_window(window_rules.reno(), 1e-4)
    second = mean_window(window_rules.DelayedAcks(window_rules.reno()), 1e-4)
    assert second == pytest.approx(each / math.sqrt(2), rel=0.02)


def test_a_steady_htcp_keeps_four_fifths_and_one_that_changed_a_half() -> None:
    rule = window_rules.Htcp(rtt_s=0.1)
    # A packet more than that stays: the first ACK after recovery adds one
    assert rule.decrease(1000) == pytest.approx(0.5 - 1 / 1000)
    assert rule.decrease(1100) == pytest.approx(0.2 - 1 / 1100)
    assert rule.decrease(2000) == pytest.approx(0.5 - 1 / 2000)


def test_htcp_grows_as_reno_for_a_second_and_then_ever_faster() -> None:
    rule = window_rules.Htcp(rtt_s=0.1)
    gained = [rule.increase(10_000, rtts) for rtts in range(60)]
    assert gained[:9] == [1.0] * 9
    assert all(later > before for before, later in pairwise(gained[9:]))


def test_bic_searches_the_last_maximum_and_then_probes() -> None:
    rule = window_rules.Bic()
    window = 2000.0 * (1 - rule.decrease(2000))
    assert window == pytest.approx(1751)
    steps = []
    for _ in range(30):
        steps.append(rule.increase(window, 0))
        window += steps[-1]
    assert steps[:5] == [32.0] * 5
    near = steps.index(min(steps))
    assert min(steps) < 1
    assert steps[near:] == sorted(steps[near:])


def test_bic_aims_lower_after_a_loss_below_the_maximum() -> None:
    rule = window_rules.Bic(maximum=2000)
    rule.decrease(1800)
    assert rule.maximum == 1800 - 225 / 2
