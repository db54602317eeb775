"""Background traffic: who sends when, from a seed alone, and what its programs are told."""

from __future__ import annotations

import dataclasses
import json
from itertools import pairwise
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.planning.request import RunRequest
from farpath.record.checks import check_background
from farpath.spec.background import Background, OnPeriod, on_periods, sent_bytes
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import FqMaxrate
from farpath.tools import socat

BUSY = Background(sources=4, rate_bps=50_000_000, on_s=5.0, off_s=15.0)

backgrounds = st.builds(
    Background,
    sources=st.integers(1, 8),
    rate_bps=st.integers(100_000, 1_000_000_000),
    on_s=st.floats(0.1, 100.0),
    off_s=st.floats(0.1, 100.0),
)


@given(backgrounds, st.integers(1, 2**31 - 1))
def test_a_source_s_turns_never_overlap_and_lie_within_the_schedule(
    background: Background, seed: int
) -> None:
    for source in range(background.sources):
        mine = [turn for turn in on_periods(background, seed, 100.0) if turn.source == source]
        assert all(0 <= turn.start_s < turn.stop_s <= 100.0 for turn in mine)
        assert all(before.stop_s < after.start_s for before, after in pairwise(mine))


def test_equal_seeds_give_equal_turns_and_another_seed_others() -> None:
    assert on_periods(BUSY, 1, 960.0) == on_periods(BUSY, 1, 960.0)
    assert on_periods(BUSY, 1, 960.0) != on_periods(BUSY, 2, 960.0)


def test_a_shorter_schedule_has_the_beginning_of_a_longer_one() -> None:
    long, short = on_periods(BUSY, 1, 960.0), on_periods(BUSY, 1, 100.0)
    begun = [turn for turn in long if turn.start_s < 100.0]
    assert [turn.start_s for turn in begun] == [turn.start_s for turn in short]


def test_turns_are_as_long_and_as_many_as_stated() -> None:
    """Over 200,000 s: 10,000 turns a source; their mean is known to 1 %."""
    found = [turn for turn in on_periods(BUSY, 1, 200_000.0) if turn.source == 0]
    lengths_s = [turn.stop_s - turn.start_s for turn in found]
    print(f"mean turn {fmean(lengths_s):.3f} s, predicted {BUSY.on_s}")
    assert fmean(lengths_s) == pytest.approx(BUSY.on_s, rel=0.04)
    mean_bps = 8 * sent_bytes(BUSY, 1, 200_000.0) / 200_000.0
    print(f"mean rate {mean_bps:.4g} bit/s, predicted {BUSY.mean_rate_bps:.4g}")
    assert mean_bps == pytest.approx(BUSY.mean_rate_bps, rel=0.03)


@pytest.mark.parametrize(
    ("field", "value"), [("sources", 0), ("rate_bps", 1), ("on_s", 0.0), ("off_s", 1e9)]
)
def test_a_value_out_of_range_is_named(field: str, value: float) -> None:
    with pytest.raises(BadInputError, match=rf"background\.{field} is .*must lie between"):
        dataclasses.replace(BUSY, **{field: value})


@given(
    rate_bps=st.integers(100_000, 10_000_000_000),
    mtu_bytes=st.integers(576, 9000),
    ip_version=st.sampled_from([4, 6]),
)
def test_datagrams_make_full_packets_only_and_fit_into_udp(
    rate_bps: int, mtu_bytes: int, ip_version: int
) -> None:
    payload = socat.datagram_bytes(rate_bps, mtu_bytes, ip_version) + socat.UDP_HEADER_BYTES
    room = (mtu_bytes - socat.IP_HEADER_BYTES[ip_version]) // 8 * 8
    assert payload % room == 0
    assert payload + socat.IP_HEADER_BYTES[ip_version] <= socat.LARGEST_PACKET_BYTES


def test_each_source_sends_from_a_port_of_its_own() -> None:
    texts = {" ".join(socat.arguments(number, 1_000_000, 1500, "10.0.0.9")) for number in range(4)}
    assert len({text.split("sourceport=")[1].split(",")[0] for text in texts}) == 4


def test_a_port_that_paces_at_another_rate_is_told() -> None:
    port = FqMaxrate(50_000_000)
    assert port.differences({"kind": "fq", "options": {"maxrate": 6_250_000}}) == []
    assert port.differences({"kind": "fq", "options": {"maxrate": 6_000_000}}) == [
        "rate is 48000000 bit/s, not 50000000"
    ]
    assert port.differences({"kind": "pfifo_fast"}) == ["kind is pfifo_fast, not fq"]


def test_a_constant_rate_is_one_turn_from_beginning_to_end() -> None:
    constant = Background.constant(200_000_000)
    assert on_periods(constant, 7, 60.0) == (OnPeriod(0, 0.0, 60.0),)
    assert sent_bytes(constant, 7, 60.0) == 1.5e9
    assert constant.mean_rate_bps == 200e6
    assert str(constant) == "1 x 200 Mbit/s, always on"


def test_the_source_of_an_ipv6_path_is_told_an_address_in_brackets() -> None:
    assert "UDP6:[fd00::ffff]:9," in socat.arguments(0, 10**8, 1500, "fd00::ffff", 6)[-1]


def _sent(plan: Plan, part: float) -> dict[str, Any]:
    assert plan.path.background
    return _counted(part * sent_bytes(plan.path.background, plan.seed, plan.schedule.duration_s))


def _counted(sent: float) -> dict[str, Any]:
    return {"before": {"background_bytes": 100}, "after": {"background_bytes": 100 + sent}}


@pytest.fixture
def busy(plan: Plan) -> Plan:
    """The plan of the samples, its path with background traffic."""
    return dataclasses.replace(plan, path=dataclasses.replace(plan.path, background=BUSY))


def test_what_the_path_has_is_accepted(busy: Plan) -> None:
    check_background(_sent(busy, 1.005), busy)


@pytest.mark.parametrize(
    ("asked", "sent_bytes_more"),
    [
        ({"path": "cern"}, 542_325),
        ({"path": "cern", "seed": "2"}, 438_248),
        ({"rtt": "20ms", "rate": "100Mbit", "background": "0.9"}, 328_651),
        ({"rtt": "20ms", "rate": "100Mbit", "background": "cbr:1Mbit"}, 22_992),
        ({"rtt": "20ms", "rate": "100Mbit", "background": "0.5", "mtu": "9000"}, 614_534),
        ({"rtt": "20ms", "rate": "100Mbit", "background": "0.5", "ip": "6"}, 266_634),
    ],
)
def test_what_sockets_still_send_is_allowed_in_a_short_run_and_no_second_more(
    asked: dict[str, str], sent_bytes_more: int
) -> None:
    """What sources of runs of 5 s sent in the lab beyond their turns."""
    plan = RunRequest(region="5s", schedule="together", stack="reno", **asked).plan()
    background = plan.path.background
    assert background
    wanted = sent_bytes(background, plan.seed, 5.0)
    check_background(_counted(wanted + sent_bytes_more), plan)
    another_second = background.mean_rate_bps / 8
    for sent in (wanted + sent_bytes_more + another_second, wanted - another_second):
        with pytest.raises(CheckFailedError, match="background traffic was"):
            check_background(_counted(sent), plan)


@pytest.mark.parametrize("part", [0.0, 0.5, 1.2])
def test_a_run_with_other_traffic_than_asked_fails(busy: Plan, part: float) -> None:
    with pytest.raises(CheckFailedError, match=r"background traffic was .* MB, not .* MB"):
        check_background(_sent(busy, part), busy)


def test_a_path_without_background_needs_none(plan: Plan) -> None:
    check_background({}, plan)


def test_a_path_comes_back_from_its_plan_with_its_background(busy: Plan) -> None:
    assert Plan.from_dict(json.loads(busy.to_json())).path == busy.path


def test_a_plan_of_before_background_traffic_has_none(plan: Plan) -> None:
    data = plan.as_dict()["path"]
    del data["background"]
    assert Path.from_dict(data).background is None
