"""LINK: what links of a user's network do, given from outside of his file."""

from __future__ import annotations

import pytest

from farpath.planning.user_links import with_links
from farpath.spec.aqm import Aqm
from farpath.spec.user_network import Cable, Shaping, UserNetwork
from tests.support.refusals import refused

#: A dumbbell of bare links but one, whose loss is its file's.
DUMBBELL = UserNetwork(
    ("c1", "x1"),
    ("r1", "r2"),
    (
        Cable("c1", 0, "r1", 1),
        Cable("r1", 2, "r2", 1, Shaping(loss=0.02), Shaping(loss=0.02)),
        Cable("r2", 2, "x1", 0),
    ),
)


def directions(text: str) -> list[tuple[Shaping, Shaping]]:
    """What each cable does to packets, there and back."""
    return [(cable.there, cable.back) for cable in with_links(DUMBBELL, text).cables]


def test_without_a_text_a_network_is_as_its_file_has_it() -> None:
    assert with_links(DUMBBELL, None) is DUMBBELL


def test_a_link_is_named_by_its_ends_in_either_order() -> None:
    shaping = Shaping(10_000_000, 50, 5.0, 1.0, 0.02)
    for name in ("r1-r2", "r2-r1"):
        text = f"{name}:rate=10Mbit,delay=5ms,jitter=1ms,buffer=50packets"
        assert directions(text) == [(Shaping(), Shaping()), (shaping, shaping), (Shaping(),) * 2]


def test_one_direction_may_be_meant() -> None:
    text = "r1>r2:loss=1%,rate=1Mbit r2>r1:loss=0"
    assert directions(text)[1] == (Shaping(1_000_000, 1000, loss=0.01), Shaping())


def test_a_queue_takes_its_own_parameters_and_limit() -> None:
    (there, back) = directions("r1-r2:queue=fq_codel:target=5ms,ecn,limit=200,rate=10Mbit")[1]
    assert there == back
    assert there.queue == Aqm("fq_codel", {"target": 0.005, "ecn": 1})
    assert (there.rate_bps, there.buffer_packets) == (10_000_000, 200)


def test_blanks_do_for_commas() -> None:
    text = "r1-r2: rate=10Mbit delay=5ms c1-r1: loss=1%"
    assert directions(text) == directions("r1-r2:rate=10Mbit,delay=5ms c1-r1:loss=1%")


def test_a_star_gives_links_what_they_have_not() -> None:
    text = "*:rate=100Mbit,delay=1ms,buffer=9,loss=1% r1-r2:rate=5Mbit,queue=pie c1>r1:delay=7ms"
    (c1, c1_back), (trunk, _), (x1, _) = directions(text)
    assert c1 == Shaping(100_000_000, 9, 7.0, 0.0, 0.01)
    assert c1_back == x1 == Shaping(100_000_000, 9, 1.0, 0.0, 0.01)
    # Its rate, and so what waits for it, and its loss are its own
    assert trunk == Shaping(5_000_000, 1000, 1.0, 0.0, 0.02, Aqm("pie"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rate=10Mbit",
        "r1-r2",
        "r1-r2:",
        "r1-x1:loss=1%",
        "r1-r2:speed=3",
        "r1-r2:rate=1Mbit,rate=2Mbit",
        "r1-r2:rate=fast",
        "r1-r2:delay=5",
        "r1-r2:rate=1Mbit,buffer=1MB",
        "r1-r2:buffer=10",
        "r1-r2:jitter=3ms",
        "r1-r2:rate=1Mbit,queue=blue",
        "r1-r2:rate=1Mbit,queue=red:limit=9MB",
    ],
)
def test_what_is_no_link_or_no_option_is_refused(text: str) -> None:
    with refused("link"):
        with_links(DUMBBELL, text)
