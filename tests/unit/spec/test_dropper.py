"""Droppers: their texts, which packets they mean, their rules for nft, and the count afterwards."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.planning.droppers import parse_droppers
from farpath.planning.request import RunRequest
from farpath.record.checks import check_droppers
from farpath.spec.dropper import Dropper
from farpath.spec.dropping import horizon_packets
from farpath.spec.plan import Plan
from farpath.tools import nftables
from tests.support.plans import with_droppers


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("every:1e6", ["every:1000000"]),
        ("packets:1000,2000,flow=flow2", ["packets:1000,2000,flow=flow2"]),
        ("at:1min,30.5s", None),
        ("at:30.5s,1min", ["at:30.5s,60s"]),
        ("random:0.01%", ["random:0.0001"]),
        (" burst:1e-4,30%,0.5 ", ["burst:0.0001,0.3,0.5"]),
        ("every:9 every:9,direction=back", ["every:9", "every:9,direction=back"]),
        ("every:9,flow=flow1 at:3s,flow=flow2", ["every:9,flow=flow1", "at:3s,flow=flow2"]),
    ],
)
def test_a_text_means_droppers_that_read_the_same_again(text: str, means: list[str] | None) -> None:
    if means is None:
        with pytest.raises(BadInputError, match="in their order"):
            parse_droppers(text)
        return
    found = parse_droppers(text)
    assert [str(dropper) for dropper in found] == means
    assert parse_droppers(" ".join(means)) == found


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "DROP is empty"),
        ("every", "as in every:1000"),
        ("every:1.5", "'1.5', which is no whole number"),
        ("every:1,2", "give one whole number"),
        ("every:1e12", "no whole number"),
        ("packets:", "give whole numbers"),
        ("packets:2,2", "each packet once"),
        ("at:3", "a number without a unit"),
        ("at:", "give times"),
        ("random:0", "from 5e-08 to 1"),
        ("random:1e-12", "from 5e-08 to 1"),
        ("random:nan", "no finite number"),
        ("random:2", "out of range"),
        ("burst:1e-4", "two or three"),
        ("every:0", "give one whole number from 1"),
        ("every:-5", "'-5', which is no whole number"),
        ("packets:0", "give whole numbers from 1"),
        ("packets:6,5", "in their order"),
        ("burst:1e-4,0", "from 1e-12 to 1"),
        ("burst:1e-320,0.5", "from 1e-12 to 1"),
        ("burst:nan,0.1", "no finite number"),
        ("every:,,10", "before or after a comma"),
        ("every:9,", "before or after a comma"),
        ("every:9,flow=", "give flow once"),
        ("every:9,direction=there,direction=back", "give direction once"),
        ("every:9,side=left", "'side' is not flow or direction"),
        ("every:9 at:3s", "take the same packets"),
        ("every:9,flow=flow1 at:3s,flow=flow1", "take the same packets"),
        ("every:9 at:3s,flow=flow1", "take the same packets"),
    ],
)
def test_what_makes_no_dropper_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint):
        parse_droppers(text)


@given(
    enter=st.floats(1e-4, 0.2), leave=st.floats(0.05, 1.0), loss=st.floats(0.1, 1.0),
    seed=st.integers(1, 100),
)  # fmt: skip
def test_bursts_lose_what_a_gilbert_elliott_chain_does(
    enter: float, leave: float, loss: float, seed: int
) -> None:
    count = 200_000
    places = Dropper("burst", (enter, leave, loss)).positions(seed, count)
    assert list(places) == sorted(set(places))
    assert not places or 1 <= places[0] <= places[-1] <= count
    part = enter / (enter + leave) * loss
    # Losses of one burst come together: their number varies as if there were fewer of them.
    deviation = (part * (1 / leave + 1) * 2 / count) ** 0.5
    assert abs(len(places) / count - part) < 6 * deviation


def test_a_longer_look_finds_the_same_bursts_and_more() -> None:
    dropper = Dropper("burst", (0.01, 0.3))
    short, long = dropper.positions(3, 1_000), dropper.positions(3, 10_000)
    assert long[: len(short)] == short
    assert dropper.positions(4, 10_000) != long


def test_droppers_that_can_have_nothing_to_drop_are_refused(plan: Plan) -> None:
    for text, complaint in {
        "at:40s": "flow1 ends after 40 s",
        "at:35s,flow=flow2": "flow2 ends after 35 s",
        "packets:1000000000": "no such packet can come, in 40 s the path carries at most some",
        "every:4e9": "no such packet can come",
        "every:9,flow=flow3": "there is no flow flow3, but flow1, flow2",
        "burst:0.5,0.5": "take a shorter test or rarer bursts",
    }.items():
        with pytest.raises(BadInputError, match=complaint):
            with_droppers(plan, parse_droppers(text))


def test_a_plan_comes_back_with_its_droppers_and_another_path_name(plan: Plan) -> None:
    dropping = with_droppers(plan, parse_droppers("at:3s,flow=flow1 every:9,direction=back"))
    assert Plan.from_dict(dropping.as_dict()) == dropping
    assert dropping.path.name == "cern-dropping"
    older = plan.as_dict()
    del older["droppers"]
    assert Plan.from_dict(older) == plan


def test_rules_count_data_towards_the_receiver_and_all_packets_back(plan: Plan) -> None:
    text = "packets:3,5,flow=flow1 every:7,flow=flow2 at:3s,direction=back"
    script = nftables.script(
        with_droppers(plan, parse_droppers(text)), {"there": ["s2-eth1"], "back": ["s1-eth1"]}
    ).splitlines()
    data = "meta l4proto { tcp, udp } th dport"
    assert f"{data} {{ 5201 }} meta length > 750 jump dropper_0" in script
    assert f"{data} {{ 5202 }} meta length > 750 jump dropper_1" in script
    assert "meta l4proto { tcp, udp } th sport { 5201, 5202 } jump dropper_2" in script
    assert 'type filter hook ingress device "s1-eth1" priority 0;' in script
    assert "numgen inc mod 4294967295 { 2, 4 } counter name lost_0 drop" in script
    assert "numgen inc mod 7 == 6 counter name lost_1 drop" in script
    assert not any("lost_2 drop" in line for line in script)


def _after(**counts: int) -> dict[str, Any]:
    return {"after": {"droppers": [{"dropper": "it", **counts}]}}


@pytest.mark.parametrize(
    ("drop", "seen", "lost", "complaint"),
    [
        ("every:10", 99, 9, ""),
        ("every:10", 99, 10, "took 10 of 99 packets, not 9"),
        ("packets:5,100", 99, 1, "not 2: a packet that was to be lost never came"),
        ("packets:5,100", 100, 2, ""),
        ("at:3s,4s", 99, 2, ""),
        ("at:3s,4s", 99, 1, "never came"),
        ("random:0.1", 1000, 100, ""),
        ("random:0.1", 1000, 200, "not 42 to 158"),
        ("burst:1e-6,0.3", 10**9, 0, "more than its bursts were drawn for"),
        ("every:10", 0, 0, "saw no packet"),
        ("random:0.1,direction=back", 0, 0, "saw no packet"),
    ],
)
def test_a_run_fails_if_others_were_lost_than_asked(
    plan: Plan, drop: str, seen: int, lost: int, complaint: str
) -> None:
    dropping = with_droppers(plan, parse_droppers(drop))
    if not complaint:
        check_droppers(_after(seen=seen, lost=lost), dropping)
        return
    with pytest.raises(CheckFailedError, match=complaint):
        check_droppers(_after(seen=seen, lost=lost), dropping)


@pytest.mark.parametrize("drop", ["every:1000", "random:1e-6", "burst:1e-6,0.5"])
def test_a_dropper_whose_turn_never_came_is_warned_of(plan: Plan, drop: str) -> None:
    dropping = with_droppers(plan, parse_droppers(drop))
    (warning,) = check_droppers(_after(seen=999, lost=0), dropping)
    assert warning == f"DROP {dropping.droppers[0]} lost nothing: it saw 999 packets"


def test_a_dropper_that_took_some_is_not_warned_of(plan: Plan) -> None:
    dropping = with_droppers(plan, parse_droppers("every:1000"))
    assert check_droppers(_after(seen=1000, lost=1), dropping) == []


def test_bursts_are_drawn_for_twice_what_the_bottlenecks_carry() -> None:
    words = {"rtt": "20ms", "rate": "100Mbit", "region": "10s", "schedule": "together"}
    plan = RunRequest(**words).plan()
    assert horizon_packets(plan) == pytest.approx(2 * 1e9 / 8 / 1514, abs=1)
    row = RunRequest(**words, topology="parking-lot:3").plan()
    assert horizon_packets(row) == pytest.approx(3 * horizon_packets(plan), abs=2)
    small = RunRequest(**words, senders="mtu=600").plan()
    assert horizon_packets(small) == pytest.approx(2 * 1e9 / 8 / 614, abs=1)


@pytest.mark.parametrize("loss", [1e-12, 1e-9])
def test_a_burst_that_neither_ends_nor_loses_is_looked_at_no_further_than_asked(
    loss: float,
) -> None:
    assert Dropper("burst", (1.0, 1e-12, loss)).positions(1, 10_000) == ()


def test_a_flow_whose_packets_are_too_small_to_count_is_refused() -> None:
    words = {"rtt": "20ms", "region": "5s", "schedule": "together", "mtu": "9000"}
    small = RunRequest(**words, stack="udt:mss=4500")
    with pytest.raises(BadInputError, match="flow1 sends packets of 4500 bytes, and those above"):
        dataclasses.replace(small, drop="every:10").plan()
    dataclasses.replace(small, drop="every:10,direction=back").plan()
    RunRequest(**words, stack="udt:mss=4501", drop="every:10").plan()


def test_a_chance_of_one_takes_every_packet(plan: Plan) -> None:
    script = nftables.script(
        with_droppers(plan, parse_droppers("random:1")), {"there": ["s2-eth1"], "back": []}
    )
    assert "counter name lost_0 drop" in script
    assert "numgen" not in script
