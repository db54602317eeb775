"""Links between sites: their values, those of one direction, and their changes."""

from __future__ import annotations

from typing import Any

import pytest

from farpath.planning.deployment import SiteLink
from farpath.planning.site_links import read_links
from farpath.spec.aqm import Aqm
from farpath.spec.services import Fault
from farpath.spec.user_network import Shaping
from tests.support.refusals import refused

SITES = ("eu", "us")


def read(**values: Any) -> tuple[SiteLink, tuple[Fault, ...]]:
    (link,), faults = read_links([{"sites": ["eu", "us"], **values}], SITES, 60)
    return link, faults


def test_each_direction_has_half_of_a_round_trip_time() -> None:
    link, faults = read(rtt="81ms")
    assert link == SiteLink("eu", "us", Shaping(delay_ms=40.5), Shaping(delay_ms=40.5))
    assert not faults


def test_a_direction_may_have_values_of_its_own() -> None:
    link, _ = read(
        rtt="80ms", rate="100Mbit", loss="1%",
        there={"delay": "10ms", "jitter": "1ms"},
        back={"rate": "10Mbit", "queue": "fq_codel:limit=200"},
    )  # fmt: skip
    assert link.there == Shaping(100_000_000, 1000, 10.0, 1.0, 0.01)
    assert link.back == Shaping(10_000_000, 200, 40.0, 0.0, 0.01, Aqm("fq_codel"))


@pytest.mark.parametrize(
    ("text", "packets"),
    [("77packets", 77), ("1xBDP", 661), ("50ms", 413), ("1MB", 661), ("3kB", 2)],
)
def test_a_buffer_counts_full_packets_by_the_links_own_round_trip(text: str, packets: int) -> None:
    link, _ = read(rtt="80ms", rate="100Mbit", buffer=text)
    assert link.there.buffer_packets == link.back.buffer_packets == packets


def test_a_rate_that_changes_is_a_fault_until_its_next_change() -> None:
    link, faults = read(rtt="10ms", rate="100Mbit,5s:20Mbit,10s:100Mbit,30s:1Mbit")
    assert link.there.rate_bps == 100_000_000
    assert faults == (
        Fault("rate", ("eu", "us"), 5.0, 5.0, value=20_000_000),
        Fault("rate", ("eu", "us"), 30.0, None, value=1_000_000),
    )


def test_a_round_trip_time_that_changes_is_one_of_delays() -> None:
    _, faults = read(rtt="50ms,5s:80ms")
    assert faults == (Fault("delay", ("eu", "us"), 5.0, None, value=40.0),)


def test_a_change_of_one_direction_is_of_that_alone() -> None:
    _, faults = read(rtt="50ms,5s:80ms", back={"delay": "9ms"})
    assert faults == (Fault("delay", ("eu", "us"), 5.0, None, True, 40.0),)


def test_changes_repeat_until_the_run_ends() -> None:
    _, faults = read(rtt="50ms,10s:80ms,repeat:20s")
    assert [(fault.at_s, fault.lasts_s) for fault in faults] == [(10, 10), (30, 10), (50, None)]


@pytest.mark.parametrize(
    ("values", "option"),
    [
        ({"rt": "1ms"}, "rt"),
        ({"rtt": "1"}, "rtt"),
        ({"rtt": "20s"}, "rtt"),
        ({"rtt": "1ms", "delay": "1ms"}, "rtt"),
        ({"rtt": ["1ms"]}, "rtt"),
        ({"rate": "fast"}, "rate"),
        ({"rate": "1Mbit,5"}, "rate"),
        ({"rate": "1Mbit,5s:x"}, "rate"),
        ({"delay": "1ms,5"}, "delay"),
        ({"rtt": "1ms,0.01s:2ms,repeat:0.02s"}, "delay"),
        ({"rate": "1Mbit", "buffer": "much"}, "buffer"),
        ({"buffer": "9packets"}, ""),
        ({"queue": "pie"}, ""),
        ({"rate": "1Mbit", "queue": "pi"}, "queue"),
        ({"jitter": "1ms"}, ""),
        ({"loss": "60%"}, "loss"),
        ({"there": {"rtt": "1ms"}}, "there"),
        ({"there": "1ms"}, "there"),
        ({"sites": ["eu"]}, "sites"),
        ({"sites": ["eu", "eu"]}, "sites"),
        ({"sites": ["eu", "asia"]}, "sites"),
        ({"sites": "eu-us"}, "sites"),
    ],
)
def test_what_is_no_link_is_refused_by_its_key(values: dict[str, Any], option: str) -> None:
    with refused(option):
        read(**values)


@pytest.mark.parametrize("entries", [None, [], {}, "eu-us"])
def test_sites_without_a_way_are_refused(entries: object) -> None:
    with refused("links"):
        read_links(entries, SITES, 60)


def test_two_sites_have_one_link() -> None:
    with refused("sites"):
        read_links([{"sites": ["eu", "us"]}, {"sites": ["us", "eu"]}], SITES, 60)


def test_links_may_close_a_loop() -> None:
    pairs = (["a", "b"], ["b", "c"], ["c", "a"])
    links, _ = read_links([{"sites": pair, "rtt": "9ms"} for pair in pairs], ("a", "b", "c"), 60)
    assert len(links) == 3
