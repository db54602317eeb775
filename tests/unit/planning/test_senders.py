"""Texts of senders: what they mean, and what makes none."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.path_options import resolve_path
from farpath.planning.senders import parse_senders
from farpath.spec.hosts import Sender
from tests.support.refusals import refused

PATH = resolve_path(rtt="117ms", rate="622Mbit", mtu="9000")


def test_each_word_is_a_sender_and_what_it_leaves_out_is_the_paths() -> None:
    assert parse_senders("rtt=172ms mtu=1500,rtt=0.2s mtu=3000", PATH) == (
        Sender("sender2", 172.0, 9000),
        Sender("sender3", 200.0, 1500),
        Sender("sender4", 117.0, 3000),
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rtt=50ms",
        "rtt=1h",
        "mtu=9001",
        "mtu=100",
        "172ms",
        "rtt=172ms,rtt=180ms",
        "rtt=172ms, mtu=1500",
        "rate=10Mbit",
        " ".join(["rtt=172ms"] * 17),
    ],
)
def test_what_is_no_sender_is_refused_in_one_line(text: str) -> None:
    with refused("senders"):
        parse_senders(text, PATH)


def test_an_mtu_above_the_paths_is_refused_with_the_paths() -> None:
    path = resolve_path(rtt="117ms")
    with pytest.raises(BadInputError, match="at most the path's, 1500"):
        parse_senders("mtu=9000", path)
