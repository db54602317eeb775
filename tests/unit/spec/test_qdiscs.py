"""Links: what is asked of tc, and what tc's own words say differs from it."""

from __future__ import annotations

import copy
import dataclasses
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.mechanisms.era.mechanism import era_by_text
from farpath.planning.planner import make_plan
from farpath.spec import qdiscs
from farpath.spec.path import (
    BUFFER_BYTES_RANGE,
    ETHERNET_HEADER_BYTES,
    LOSS_RANGE,
    MTU_BYTES_RANGE,
    RATE_BPS_RANGE,
    RTT_MS_RANGE,
)
from farpath.spec.qdiscs import (
    DELAY_LIMIT_PACKETS,
    FqMaxrate,
    FqPacing,
    NetemDelay,
    NicQueue,
    TbfBottleneck,
    nic_qdisc,
)
from farpath.spec.schedule import seven_regions
from tests.support.data import captured
from tests.support.paths import LONG

THERE = NetemDelay(LONG.one_way_delay_s, LONG.loss, seed=1)
BACK = NetemDelay(LONG.one_way_delay_s, 0.0, seed=1)
LATENESS_S = 2e-6
NARROW = TbfBottleneck(LONG.rate_bps, LONG.buffer_bytes, LONG.frame_bytes, lateness_s=LATENESS_S)

#: Files of what ``tc -r -s -j qdisc show`` (iproute2 6.15) printed of these in the lab.
CAPTURED_FILES = {
    "there": "tc/qdisc_netem_loss.json",
    "back": "tc/qdisc_netem_no_loss.json",
    "narrow": "tc/qdisc_tbf.json",
    "odd rate": "tc/qdisc_tbf_odd_rate.json",
    "odd delay": "tc/qdisc_netem_odd_delay.json",
    "odd loss": "tc/qdisc_netem_odd_loss.json",
    "none": "tc/qdisc_noqueue.json",
}


def captured_qdisc(name: str) -> dict[str, Any]:
    qdisc: dict[str, Any] = json.loads(captured(CAPTURED_FILES[name]))
    return qdisc


def _six_digits(value: float) -> float:
    return float(f"{value:g}")


def tc_prints(lines: list[str]) -> dict[str, Any]:
    """What tc prints of the first qdisc made by such lines (tc/q_netem.c, tc/q_tbf.c)."""
    arguments = lines[0].partition(" handle 1: ")[2].split()[1:]
    if "tbf" in lines[0]:
        arguments.insert(0, "tbf")
    words = dict(pairwise(arguments))
    if "tbf" in arguments:
        rate = int(words["rate"].removesuffix("bit")) // 8
        return {"kind": "tbf", "options": {"rate": rate, "limit": int(words["limit"])}}
    options: dict[str, Any] = {
        "limit": int(words["limit"]),
        "delay": {"delay": _six_digits(int(words["delay"].removesuffix("ns")) / 1e9)},
        "seed": int(words["seed"]),
    }
    if "random" in words:
        steps = round(float(words["random"].removesuffix("%")) / 100 * (2**32 - 1))
        options["loss-random"] = {"loss": _six_digits(steps / (2**32 - 1))}
    return {"kind": "netem", "options": options}


def test_a_bottleneck_is_a_rate_and_a_buffer_with_a_bucket_of_one_frame_and_a_late_timer() -> None:
    assert NARROW.tc_lines("X") == [
        "qdisc add dev X root handle 1: tbf rate 450000000bit burst 1627 limit 10500000"
    ]


def test_a_buffer_that_counts_packets_is_a_pfifo_below() -> None:
    counted = dataclasses.replace(NARROW, buffer_packets=6000)
    (tbf, pfifo) = counted.tc_lines("X")
    assert [tbf] == NARROW.tc_lines("X")
    assert pfifo == "qdisc add dev X parent 1:1 handle 10: pfifo limit 6000"
    child = {"kind": "pfifo", "options": {"limit": 6000}}
    assert counted.child_differences(child) == []
    assert counted.child_differences({"kind": "pfifo", "options": {"limit": 6}}) == [
        "buffer is 6 packets, not 6000"
    ]
    assert counted.child_differences({}) == [
        "kind is None, not pfifo",
        "buffer is None packets, not 6000",
    ]
    assert NARROW.child_differences({}) == []
    assert NARROW.child_differences(child) == ["its buffer is a pfifo"]


def test_a_delay_line_holds_the_whole_path_and_is_seeded() -> None:
    assert THERE.tc_lines("X") == [
        "qdisc add dev X root handle 1: netem limit 2000000 delay 82000000ns "
        "loss random 0.000200000000% seed 1"
    ]
    assert "loss" not in BACK.tc_lines("X")[0]


@pytest.mark.parametrize(
    ("queue", "name"),
    [
        (THERE, "there"),
        (BACK, "back"),
        (NARROW, "narrow"),
        (TbfBottleneck(9_999_999_999, 1 << 30, 1514, lateness_s=LATENESS_S), "odd rate"),
        (NetemDelay(0.06172835, 0.0, seed=7), "odd delay"),
        (NetemDelay(0.082, 1 / 300, seed=1), "odd loss"),
    ],
)
def test_what_the_lab_was_asked_for_does_not_differ(queue: Any, name: str) -> None:
    assert queue.differences(captured_qdisc(name)) == []


@pytest.mark.parametrize("queue", [THERE, BACK, NARROW])
@pytest.mark.parametrize("name", ["none", ""])
def test_a_port_without_its_queue_differs_by_its_kind(queue: Any, name: str) -> None:
    differences = queue.differences(captured_qdisc(name) if name else {})
    assert differences[0].startswith("kind is no" if name else "kind is None")


@pytest.mark.parametrize(
    ("queue", "name", "keys", "value", "sentence"),
    [
        (NARROW, "narrow", ["rate"], 56_250_001, "rate is 450000008 bit/s, not 450000000"),
        (NARROW, "narrow", ["limit"], 10_500_001, "buffer is 10500001 bytes, not 10500000"),
        (THERE, "there", ["limit"], 1000, "limit is 1000 packets, not 2000000"),
        (THERE, "there", ["delay", "delay"], 0.0821, "delay is 0.0821 s, not 0.082"),
        (THERE, "there", ["loss-random", "loss"], 2.1e-6, "loss is 2.1e-06, not 2e-06"),
        (THERE, "there", ["seed"], 2, "seed is 2, not 1"),
        (BACK, "back", ["delay", "delay"], 0.0, "delay is 0.0 s, not 0.082"),
        (BACK, "back", ["loss-random"], {"loss": 1e-6}, "loss is 1e-06, not 0"),
    ],
)
def test_each_difference_is_one_sentence(
    queue: Any, name: str, keys: list[str], value: object, sentence: str
) -> None:
    qdisc = captured_qdisc(name)
    options = qdisc["options"]
    for step in keys[:-1]:
        options = options[step]
    options[keys[-1]] = value
    assert queue.differences(qdisc) == [sentence]


@pytest.mark.parametrize(("queue", "name"), [(THERE, "there"), (NARROW, "narrow")])
def test_an_option_that_tc_does_not_show_is_a_difference(queue: Any, name: str) -> None:
    for option in ("rate", "limit", "delay", "loss-random", "seed"):
        qdisc = copy.deepcopy(captured_qdisc(name))
        if qdisc["options"].pop(option, None) is not None:
            assert len(queue.differences(qdisc)) == 1


@given(
    rate_bps=st.integers(*RATE_BPS_RANGE),
    buffer_bytes=st.integers(*BUFFER_BYTES_RANGE),
    mtu_bytes=st.integers(*MTU_BYTES_RANGE),
)
def test_every_bottleneck_reads_back_as_asked(
    rate_bps: int, buffer_bytes: int, mtu_bytes: int
) -> None:
    queue = TbfBottleneck(
        rate_bps, buffer_bytes, mtu_bytes + ETHERNET_HEADER_BYTES, lateness_s=LATENESS_S
    )
    assert queue.differences(tc_prints(queue.tc_lines("X"))) == []


#: Numbers that six digits hold.
digits = st.integers(1, 999_999)


@given(
    delay_s=st.builds(lambda n, power: n * 10.0**power, digits, st.integers(-9, 0)).filter(
        lambda delay_s: RTT_MS_RANGE[0] <= 2e3 * delay_s <= RTT_MS_RANGE[1]
    ),
    loss=st.builds(lambda n, power: n * 10.0**power, digits, st.integers(-12, -6)).filter(
        lambda loss: loss <= LOSS_RANGE[1]
    ),
    seed=st.integers(1, 2**31 - 1),
)
def test_every_delay_of_six_digits_reads_back_as_asked(
    delay_s: float, loss: float, seed: int
) -> None:
    queue = NetemDelay(delay_s, loss, seed=seed)
    assert queue.differences(tc_prints(queue.tc_lines("X"))) == []


@given(rtt_ms=st.floats(*RTT_MS_RANGE))
def test_a_delay_line_is_within_half_a_nanosecond_of_half_the_rtt(rtt_ms: float) -> None:
    arguments = NetemDelay(rtt_ms / 2e3, 0.0, seed=1).tc_lines("X")[0].split()
    delay_ns = int(arguments[arguments.index("delay") + 1].removesuffix("ns"))
    assert abs(delay_ns - rtt_ms * 5e5) <= 0.5 + 1e-6


@given(one_ms=st.integers(1, 5_000), other_ms=st.integers(1, 5_000))
def test_two_delays_are_told_apart(one_ms: int, other_ms: int) -> None:
    qdisc = tc_prints(NetemDelay(one_ms / 1e3, 0.0, seed=1).tc_lines("X"))
    assert (NetemDelay(other_ms / 1e3, 0.0, seed=1).differences(qdisc) == []) == (
        one_ms == other_ms
    )


def test_a_delay_line_holds_more_than_the_windows_of_a_hundred_flows() -> None:
    assert 100 * LONG.window_bytes / (LONG.mtu_bytes - 52) < DELAY_LIMIT_PACKETS


def test_a_flow_of_udt_gets_a_port_that_paces_and_a_card_behind_it_in_2004() -> None:
    schedule = seven_regions("udt", 10.0)
    today = nic_qdisc(make_plan(LONG, schedule, 1, "virtual", era_by_text("modern")))
    of_2004 = nic_qdisc(make_plan(LONG, schedule, 1, "virtual", era_by_text("2004")))
    assert isinstance(today, FqPacing)
    assert isinstance(of_2004, FqPacing)
    (alone,) = today.tc_lines("X")
    card, pacing = of_2004.tc_lines("X")
    assert " root handle 1: fq limit 100000 " in alone
    assert " root handle 1: tbf rate 1000000000bit burst 1764 " in card
    assert " parent 1:1 handle 10: fq " in pacing
    assert today.differences({"kind": "fq"}) == []
    assert of_2004.differences({"kind": "tbf", "options": {"rate": 125_000_000}}) == []
    assert of_2004.differences({"kind": "netem"}) == [
        "kind is netem, not tbf",
        "rate is 0 bit/s, not 1000000000",
    ]


def test_on_other_clocks_udt_paces_itself() -> None:
    plan = make_plan(LONG, seven_regions("udt", 10.0), 1, "wall", era_by_text("2004"))
    assert isinstance(nic_qdisc(plan), NicQueue)


@pytest.mark.parametrize("rate_bps", [1_000_000, 10_000_000, 450_000_000])
def test_in_real_time_a_bucket_has_room_for_a_second_frame(rate_bps: int) -> None:
    late_s = qdiscs.lateness_s("wall", rate_bps, 1514)
    assert qdiscs.bucket_bytes(rate_bps, 1514, late_s) >= 2 * 1514
    assert qdiscs.lateness_s("virtual", rate_bps, 1514) == qdiscs.LATENESS_S["virtual"]


def test_jitter_duplicates_and_reordering_are_asked_of_netem_and_read_back() -> None:
    queue = NetemDelay(0.01, 0.0, seed=1, jitter_s=0.001, reorder=0.01, duplicate=0.02)
    assert queue.tc_lines("X") == [
        "qdisc add dev X root handle 1: netem limit 2000000 delay 10000000ns 1000000ns "
        "duplicate 2.000000000000% reorder 1.000000000000% seed 1"
    ]
    options = {
        "limit": 2_000_000, "delay": {"delay": 0.01, "jitter": 0.001}, "seed": 1,
        "duplicate": {"duplicate": 0.02}, "reorder": {"reorder": 0.01},
    }  # fmt: skip
    assert queue.differences({"kind": "netem", "options": options}) == []
    assert queue.differences({"kind": "netem", "options": {**options, "reorder": {}}}) == [
        "reorder is 0, not 0.01"
    ]
    assert (
        len(NetemDelay(0.01, 0.0, seed=1).differences({"kind": "netem", "options": options})) == 3
    )


def test_a_port_that_paces_at_another_rate_is_told() -> None:
    port = FqMaxrate(50_000_000)
    assert port.differences({"kind": "fq", "options": {"maxrate": 6_250_000}}) == []
    assert port.differences({"kind": "fq", "options": {"maxrate": 6_000_000}}) == [
        "rate is 48000000 bit/s, not 50000000"
    ]
    assert port.differences({"kind": "pfifo_fast"}) == ["kind is pfifo_fast, not fq"]
