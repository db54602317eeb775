"""Offloads: what OFFLOADS means, and what it refuses."""

from __future__ import annotations

import json

import pytest

from farpath.mechanisms.offloads.mechanism import offloads_text, parse_offloads
from farpath.planning.request import RunRequest
from farpath.record.identity import plan_identity
from farpath.spec.moderation import moderation_ns
from farpath.spec.offloads import (
    MOST_SEGMENTS,
    OFFLOADS,
    ONE_SEGMENT,
    segments_at_once,
    wanted_features,
)
from farpath.spec.plan import Plan
from tests.support.refusals import refused

ON_HOST = {"rtt": "20ms", "stack": "reno", "lab": "host"}


@pytest.mark.parametrize(
    ("text", "offloads", "again"),
    [
        ("on", ("tso", "gso", "gro", "checksum"), "on"),
        ("off", (), "off"),
        ("checksum, tso", ("tso", "checksum"), "tso,checksum"),
        ("gro,checksum,gso", ("gso", "gro", "checksum"), "gso,gro,checksum"),
        ("gro,tso,checksum,gso", ("tso", "gso", "gro", "checksum"), "on"),
        ("on,rx-usecs=50us", (*OFFLOADS, "rx-usecs=50us"), "on,rx-usecs=50us"),
        ("rx-usecs = 8 us, gro", ("gro", "rx-usecs=8us"), "gro,rx-usecs=8us"),
    ],
)
def test_offloads_are_all_none_or_some_and_their_text_means_the_same(
    text: str, offloads: tuple[str, ...], again: str
) -> None:
    assert parse_offloads(text) == offloads
    assert offloads_text(offloads) == again
    assert parse_offloads(again) == offloads


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "",
        "gro,lro",
        "on,gro",
        "tso",
        "gso,gro",
        "gro,rx-usecs",
        "gro,rx-usecs=50",
        "gro,rx-usecs=0us",
        "gro,rx-usecs=1001us",
        "gro,rx-usecs=2us,rx-usecs=3us",
        "rx-usecs=20us",
        "off,rx-usecs=20us",
    ],
)
def test_what_is_no_offload_is_refused_with_those_that_are(text: str) -> None:
    with refused("offloads"):
        parse_offloads(text)


@pytest.mark.parametrize(
    "options",
    [
        {"drop": "every:1000"},
        {"loss": "1e-4", "jitter": "1ms"},
        {"duplicate": "0.1%"},
    ],
)
def test_a_card_that_splits_is_refused_where_single_packets_are_lost(
    options: dict[str, str],
) -> None:
    with refused("offloads"):
        RunRequest(**{**ON_HOST, **options}, offloads="on").plan()


def test_a_card_of_the_host_lab_waits_for_nothing() -> None:
    with refused("offloads"):
        RunRequest(**ON_HOST, offloads="on,rx-usecs=50us").plan()


def test_a_kernel_that_splits_segments_itself_may_lose_packets() -> None:
    plan = RunRequest(**ON_HOST, loss="1e-4", offloads="gso,checksum").plan()
    assert plan.offloads == ("gso", "checksum")


def test_a_plan_says_nothing_of_cards_unless_it_is_asked_and_keeps_what_it_says() -> None:
    plans = [RunRequest(**ON_HOST, offloads=text).plan() for text in (None, "off", "on")]
    assert [plan.offloads for plan in plans] == [None, (), ("tso", "gso", "gro", "checksum")]
    for plan in plans:
        again = Plan.from_dict(json.loads(plan.to_json()))
        assert again == plan
        assert plan_identity(again) == plan_identity(plan)
    assert len({plan_identity(plan) for plan in plans}) == 3


@pytest.mark.parametrize(
    ("lab", "text", "wait_ns"),
    [
        ("virtual", "on", 20_000),
        ("virtual", "gro,rx-usecs=8us", 8_000),
        ("virtual", "gso,checksum", 0),
        ("host", "on", 0),
    ],
)
def test_cards_that_join_wait_for_packets_where_a_poll_takes_no_time_or_they_are_told_to(
    lab: str, text: str, wait_ns: int
) -> None:
    plan = RunRequest(**{**ON_HOST, "lab": lab}, offloads=text).plan()
    assert moderation_ns(plan) == wait_ns


def test_ports_of_the_path_split_and_join_nothing_and_keep_their_checksums() -> None:
    features = {feature.short: feature.on for feature in wanted_features(None)}
    assert features == {"tso": False, "gso": False, "gro": False}
    card = {feature.short: feature.on for feature in wanted_features(("gso", "checksum"))}
    assert card == {"tso": False, "gso": True, "gro": False, "tx": True, "rx": True}
    handed_over = [segments_at_once(each) for each in (None, ("gro", "checksum"), ("gso",))]
    assert handed_over == [ONE_SEGMENT, ONE_SEGMENT, MOST_SEGMENTS]
