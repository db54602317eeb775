"""Sites: which plans have a guest for each, and the channels between them."""

from __future__ import annotations

import pytest

from farpath.spec.sites import FarEnd, channels, far_delays_s, far_ends, slots, window_ns
from tests.support.networks import short_plan
from topologies import lay_out


@pytest.mark.parametrize(
    ("words", "delays_s"),
    [
        ({"rtt": "20ms"}, (0.01, 0.01)),
        ({"rtt": "20ms", "loss": "1%", "duplicate": "1%"}, (0.01, 0.01)),
        ({"rtt": "20ms", "jitter": "4ms"}, (0.006, 0.01)),
        ({"rtt": "20ms", "jitter": "9.5ms"}, None),
        ({"rtt": "20ms", "reorder": "1%"}, None),
        ({"rtt": "2ms"}, (0.001, 0.001)),
        ({"rtt": "1.9ms"}, None),
        ({"rtt": "20ms", "clock": "wall"}, None),
        ({"rtt": "20ms", "lab": "host"}, None),
    ],
    ids=str,
)
def test_a_plan_alone_decides_whether_each_site_has_a_guest(
    words: dict[str, str], delays_s: tuple[float, float] | None
) -> None:
    assert far_delays_s(short_plan(**words)) == (delays_s and pytest.approx(delays_s))
    assert lay_out(short_plan(**words)).sites == (2 if delays_s else 1)


def test_what_one_end_sends_to_the_other_receives_after_that_directions_delay() -> None:
    layout = lay_out(short_plan(rtt="20ms", jitter="4ms"))
    link = layout.links[0]
    assert far_ends(layout, 0) == (FarEnd(link.one, 0, 1, 10_000_000),)
    assert far_ends(layout, 1) == (FarEnd(link.other, 1, 0, 6_000_000),)
    assert channels(layout) == 2


def test_a_window_is_the_least_delay_and_a_channel_holds_all_that_is_on_its_way() -> None:
    layout = lay_out(short_plan(rtt="20ms", jitter="4ms"))
    assert window_ns(layout) == 6_000_000
    # 10 ms are part of two windows; one more is open, and one is closed and not yet delivered
    assert slots(layout) == 4
