"""Sites: which plans have a guest for each, and the channels between them."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.spec.sites import (
    FarEnd,
    channels,
    check_sides,
    far_delays_s,
    far_ends,
    lead,
    side_of,
    slots,
    window_ns,
)
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


@pytest.mark.parametrize(
    ("words", "windows", "length_ns", "held"),
    [
        # A delay there of 6 ms, and back of 10: of the lead, the window that is open, on the way
        ({"rtt": "20ms", "jitter": "4ms"}, 6, 1_000_000, 6 + 1 + 10),
        ({"rtt": "3ms"}, 1, 1_000_000, 1 + 1 + 2),
        ({"rtt": "160ms"}, 8, 10_000_000, 8 + 1 + 8),
        # Eighths of 82 ms, in whole ticks
        ({"rtt": "164ms"}, 8, 10_000_000, 8 + 1 + 9),
    ],
    ids=str,
)
def test_the_least_delay_is_the_lead_and_a_channel_holds_what_a_site_that_is_behind_has_not_read(
    words: dict[str, str], windows: int, length_ns: int, held: int
) -> None:
    layout = lay_out(short_plan(**words))
    assert (lead(layout), window_ns(layout), slots(layout)) == (windows, length_ns, held)


@pytest.mark.parametrize(
    "words", [{}, {"senders": "rtt=30ms"}, {"topology": "parking-lot:3"}], ids=str
)
def test_one_side_has_all_receivers_and_the_other_all_senders(words: dict[str, str]) -> None:
    layout = lay_out(short_plan(**words))
    check_sides(layout)
    hosts = [node for node in layout.nodes if node.is_host and node.name.startswith(("s", "r"))]
    sides = {node.name: side_of(layout, node.site) for node in hosts}
    assert sides == {name: name.rstrip("0123456789") for name in sides}


@pytest.mark.parametrize(
    "words",
    [
        {"rtt": "1ms"},
        {"reorder": "1%"},
        {"clock": "cpu"},
        {"topology": "parking-lot:2", "drop": "every:100,direction=back"},
    ],
    ids=str,
)
def test_a_run_in_one_guest_has_no_sides(words: dict[str, str]) -> None:
    with pytest.raises(BadInputError, match="needs a guest for each side"):
        check_sides(lay_out(short_plan(**words)))
