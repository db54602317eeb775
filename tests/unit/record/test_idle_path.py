"""Idle path: pings show the delays of the plan, and what the lab's clock adds to them."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.planning.program_plan import program_plan
from farpath.planning.request import RunRequest
from farpath.record.idle_path import (
    ANY_LATE,
    IdleRtt,
    check_base_rtt,
    effects,
    expected,
    idle_rtts,
    idle_warnings,
    timer_late,
)
from farpath.spec.plan import MOST_IDLE_PINGS, Plan
from farpath.spec.schedule import seven_regions
from farpath.spec.user_network import Cable, Shaping, UserNetwork
from tests.support.guest_clock import simulated_rtts_ms
from tests.support.networks import NETWORKS, ROUTED, short_plan
from tests.support.user_networks import own_plan
from topologies import lay_out

PATH = path_by_name("cern")
#: How long the bottleneck of this path sends a ping of 98 bytes.
PING_SENT_MS = 98 * 8e3 / PATH.rate_bps


def _on(clock: str) -> Plan:
    return make_plan(PATH, seven_regions("htcp", 10.0), 1, clock)


def _pings(*rtts_ms: float, sent: int | None = None) -> str:
    lines = [
        f"[1100000000.{seq:06d}] 64 bytes from 10.0.0.2: icmp_seq={seq} ttl=64 time={rtt:.3f} ms"
        for seq, rtt in enumerate(rtts_ms, start=1)
    ]
    sent = len(rtts_ms) or 5 if sent is None else sent
    lost = 100 * (sent - len(rtts_ms)) / sent
    lines.append(f"{sent} packets transmitted, {len(rtts_ms)} received, {lost:g}% packet loss")
    return "\n".join(lines)


def _shown_ms(output: str, plan: Plan, name: str = "pinger") -> float | None:
    """The RTT that pings show, which the check accepts without a warning."""
    idle = check_base_rtt(output, plan, name)
    assert idle.warnings == ()
    return idle.rtt_ms


def _chain(there_ms: Iterable[float], back_ms: Iterable[float], **words: str) -> Plan:
    """A way between two hosts, whose links have these delays."""
    links = list(zip(there_ms, back_ms, strict=True))
    names = ["h1", *(f"s{number}" for number in range(1, len(links))), "h2"]
    cables = []
    for number, (there, back) in enumerate(links):
        is_last = number == len(links) - 1
        # The links of a ping's time are short beside those of its delays
        rate_bps, packets = (10_000_000_000, 100) if is_last else (0, 0)
        shapings = [Shaping(rate_bps, packets, delay_ms) for delay_ms in (there, back)]
        ports = 1 if number else 0, 0 if is_last else 2
        cables.append(Cable(names[number], ports[0], names[number + 1], ports[1], *shapings))
    network = UserNetwork(("h1", "h2"), tuple(names[1:-1]), tuple(cables))
    return own_plan(network, "h1>h2:cubic", **words)


def _program_plan(**words: str) -> Plan:
    return program_plan(RunRequest(stack="cubic", sample="100ms", **words))


def test_the_paths_rtt_is_accepted_and_given_back() -> None:
    assert _shown_ms(_pings(164.014, 164.001, 164.0, 164.001), _on("virtual")) == 164.001


def test_one_late_ping_of_several_does_not_fail_a_run() -> None:
    assert _shown_ms(_pings(900.0, 164.002, 164.002, 164.002, 164.002), _on("virtual")) == 164.002


@pytest.mark.parametrize(("clock", "off_ms"), [("virtual", 0.0015), ("cpu", 5.0), ("wall", 25.0)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_another_rtt_fails_the_run_on_every_clock(clock: str, off_ms: float, sign: int) -> None:
    # ping prints whole microseconds, and a far link may be a quarter of one off in each direction
    base_ms = 164 + PING_SENT_MS
    inside, outside = base_ms + sign * (off_ms - 0.001), base_ms + sign * (off_ms + 0.002)
    assert _shown_ms(_pings(inside, inside, inside), _on(clock)) == pytest.approx(inside, abs=6e-4)
    with pytest.raises(CheckFailedError) as caught:
        check_base_rtt(_pings(outside, outside, outside), _on(clock))
    assert f"the idle path's RTT is {outside:.3f} ms, not 164.002 ms (on the {clock} clock" in (
        caught.value.message
    )


def test_a_farther_senders_rtt_is_held_against_its_own() -> None:
    plan = RunRequest(path="cern", senders="rtt=200ms", schedule="together").plan()
    assert _shown_ms(_pings(200.001, 200.001, 200.001), plan, "sender2") == 200.001
    with pytest.raises(CheckFailedError, match=r"RTT from sender2 is 164\.001 ms, not 200\.002 ms"):
        check_base_rtt(_pings(164.001, 164.001, 164.001), plan, "sender2")
    with pytest.raises(
        CheckFailedError, match="no ping of 5 came back over the idle path from sender2"
    ):
        check_base_rtt(_pings(), plan, "sender2")


@pytest.mark.parametrize("words", [*NETWORKS, *ROUTED, {"jitter": "2ms"}, {"rtt": "20ms,1s:30ms"}])
def test_the_delays_on_the_way_of_each_ping_are_its_rtt(words: dict[str, str]) -> None:
    plan = short_plan(**words)
    for host, receiver in plan.idle_pings.values():
        met_ns = sum(stage.delay_ns for stage in effects(plan, lay_out(plan), host, receiver))
        assert met_ns == pytest.approx(plan.pair_rtt_ms(host, receiver) * 1e6, abs=4)


def test_a_timer_ends_with_a_step_of_the_clock_or_the_one_after() -> None:
    # 5 ms are 19,531.25 steps of 256 ns, and a timer of less than 500 ns is one of 500
    assert (timer_late(5_000_000).least_ns, timer_late(5_000_000).most_ns) == (192, 448)
    assert (timer_late(256_000).least_ns, timer_late(256_000).most_ns) == (0, 256)
    assert timer_late(256_000).mean_ns == 1
    assert (timer_late(1).least_ns, timer_late(1).most_ns) == (255, 511)
    steps = [timer_late(delay_ns) for delay_ns in range(100_000, 100_256)]
    assert min(late.least_ns for late in steps) == ANY_LATE.least_ns
    assert max(late.most_ns for late in steps) == ANY_LATE.most_ns


def test_six_delays_of_five_and_a_third_ms_make_three_us_more() -> None:
    plan = _chain([5.3] * 3, [5.3] * 3)
    assert _shown_ms(_pings(31.841, 31.803, 31.802, 31.802, 31.803), plan, "h1-h2") == 31.8025
    with pytest.raises(CheckFailedError, match=r"from h1 to h2 is 31\.813 ms, not 31\.8002 ms"):
        check_base_rtt(_pings(31.85, 31.813, 31.813, 31.812), plan, "h1-h2")


#: Delays of a cable in ms, as people write them and in whole ns, none included.
DELAYS_MS = st.one_of(
    st.just(0.0),
    st.integers(1, 20).map(float),
    st.integers(1, 200).map(lambda tenths: tenths / 10),
    st.integers(1, 2_000).map(lambda ns: ns / 1e6),
    st.integers(1, 30_000_000).map(lambda ns: ns / 1e6),
)
#: The error that must be found, in ms.
PLANTED_MS = 0.01


@settings(deadline=None, max_examples=40)
@given(
    delays_ms=st.integers(2, 40).flatmap(
        lambda links: st.one_of(
            st.lists(DELAYS_MS, min_size=2 * links, max_size=2 * links),
            DELAYS_MS.map(lambda delay_ms: [delay_ms] * 2 * links),
        )
    ),
    place=st.integers(0, 255),
    wrong=st.integers(0, 79),
    sign=st.sampled_from([1, -1]),
)
def test_no_delays_fail_falsely_and_ten_us_more_or_less_on_one_link_are_found(
    delays_ms: list[float], place: int, wrong: int, sign: int
) -> None:
    links = len(delays_ms) // 2
    there_ms, back_ms = delays_ms[:links], delays_ms[links:]
    met_ns = [round(delay_ms * 1e6) for delay_ms in (*there_ms, *reversed(back_ms)) if delay_ms]
    output = _pings(*simulated_rtts_ms(met_ns, place, 5))
    assert _shown_ms(output, _chain(there_ms, back_ms), "h1-h2") is not None
    other_ms = there_ms[wrong % links] + sign * PLANTED_MS
    if other_ms >= 0:
        there_ms[wrong % links] = round(other_ms, 6)
        with pytest.raises(CheckFailedError):
            check_base_rtt(output, _chain(there_ms, back_ms), "h1-h2")


def test_a_way_without_any_delay_has_an_rtt_of_zero() -> None:
    plan = _chain([0.0] * 3, [0.0] * 3)
    assert plan.path.rtt_ms == 0
    assert _shown_ms(_pings(0.03, 0.0, 0.0, 0.0, 0.0), plan, "h1-h2") == 0
    with pytest.raises(CheckFailedError, match=r"is 0\.010 ms, not 0\.000156 ms"):
        check_base_rtt(_pings(0.03, 0.01, 0.01, 0.01, 0.01), plan, "h1-h2")


@pytest.mark.parametrize(
    ("loss", "count"), [("0", 5), ("1%", 5), ("2%", 5), ("7%", 9), ("30%", 26), ("50%", 59)]
)
def test_so_many_pings_are_sent_that_two_come_back(loss: str, count: int) -> None:
    plan = RunRequest(rtt="50ms", rate="10Mbit", loss=loss).plan()
    programs = _program_plan(rtt="50ms", loss=loss)
    assert plan.idle_ping_count <= programs.idle_ping_count
    assert (programs if loss in ("7%", "30%", "50%") else plan).idle_ping_count == count


def test_pings_of_a_way_that_loses_nearly_all_have_an_end() -> None:
    lossy = Shaping(10_000_000, 100, 5.0, loss=0.5)
    names = ["h1", *(f"s{number}" for number in range(1, 9)), "h2"]
    cables = tuple(
        Cable(one, 1 if number else 0, other, 0 if other == "h2" else 2, lossy, lossy)
        for number, (one, other) in enumerate(pairwise(names))
    )
    plan = own_plan(UserNetwork(("h1", "h2"), tuple(names[1:-1]), cables), "h1>h2:cubic")
    assert plan.idle_ping_count == MOST_IDLE_PINGS
    assert plan.path.loss == pytest.approx(1 - 0.5**9)
    idle = check_base_rtt(_pings(sent=200), plan, "h1-h2")
    assert idle_rtts({"h1-h2": idle}) == {"idle_rtt_ms": None, "idle_rtts_ms": {"h1-h2": None}}


def test_that_no_ping_comes_back_is_a_warning_only_where_losses_allow_it() -> None:
    plan = _program_plan(rtt="50ms", loss="30%")
    idle = check_base_rtt(_pings(sent=26), plan)
    assert idle == IdleRtt(None, idle_warnings({"pinger": idle}))
    assert idle.warnings == (
        "no ping of 26 came back over the idle path, which loses 51 % of them: its RTT was not "
        "checked",
    )
    with pytest.raises(CheckFailedError, match="no ping of 5 came back over the idle path, which"):
        check_base_rtt(_pings(), _on("virtual"))
    with pytest.raises(CheckFailedError, match="no ping of 60 came back"):
        check_base_rtt(_pings(sent=60), plan)


def test_a_ping_that_did_not_end_is_a_failed_lab() -> None:
    with pytest.raises(LabFailedError, match="ping ended before it printed its statistics"):
        check_base_rtt("PING 10.0.0.2", _on("virtual"))


def test_the_first_ping_counts_only_if_no_other_came_back_and_may_be_late_for_learning() -> None:
    assert _shown_ms(_pings(164.014), _on("virtual")) == 164.014
    with pytest.raises(CheckFailedError, match=r"RTT is 164\.014 ms"):
        check_base_rtt(_pings(164.014, 164.014), _on("virtual"))
    with pytest.raises(CheckFailedError, match=r"RTT is 164\.100 ms"):
        check_base_rtt(_pings(164.1), _on("virtual"))


def _drawn_pings(plan: Plan, drawn: random.Random, count: int) -> str:
    """What ping prints of a path of programs: each direction with jitter, reordering and loss."""
    half_ms, path = plan.path.rtt_ms / 2, plan.path
    rtts_ms = []
    for _ in range(count):
        rtt_ms = 2 * 98 * 8e3 / path.rate_bps
        for jitter_ms in (path.jitter_ms, path.jitter_ms if plan.programs else 0.0):
            delays = half_ms + drawn.uniform(-jitter_ms, jitter_ms)
            rtt_ms += 0.0 if drawn.random() < path.reorder else delays
        rtts_ms.append(rtt_ms)
    return _pings(*rtts_ms)


@given(
    st.sampled_from(["1us", "0.3ms", "10ms", "50ms"]),
    st.sampled_from(["0", "20%", "50%"]),
    st.integers(1, 60),
    st.integers(0),
)
def test_jitter_and_reordering_as_they_were_asked_for_never_fail_a_check(
    jitter: str, reorder: str, count: int, seed: int
) -> None:
    plan = _program_plan(rtt="100ms", jitter=jitter, reorder=reorder)
    check_base_rtt(_drawn_pings(plan, random.Random(seed), count), plan)


def test_jitter_of_both_directions_counts_and_more_pings_show_a_smaller_error() -> None:
    plan = _program_plan(rtt="100ms", jitter="10ms")
    assert _shown_ms(_pings(100.0, 118.0, 115.0, 112.0, 113.928), plan) == pytest.approx(114.732)
    with pytest.raises(CheckFailedError, match=r"RTT is 121\.000 ms, not 100\.003 ms"):
        check_base_rtt(_pings(100.0, 121.0, 121.0), plan)
    (idle,) = expected(plan, lay_out(plan), "pinger", "receiver")
    assert idle.bounds_ms()[1] == pytest.approx(120.0035, abs=0.01)
    assert idle.bounds_ms(1000)[1] == pytest.approx(103.3635, abs=0.01)


def test_pings_that_overtake_others_do_not_make_the_path_another() -> None:
    plan = _on("virtual")
    reordering = dataclasses.replace(plan, path=dataclasses.replace(plan.path, reorder=0.5))
    overtaken = _pings(164.014, 82.003, 164.001, 82.002, 164.001)
    assert _shown_ms(overtaken, reordering) == 164.001
    overtaken = _pings(82.002, 82.003, 164.001, 82.002, 82.002)
    assert _shown_ms(overtaken, reordering) == 164.001
    with pytest.raises(CheckFailedError, match=r"RTT is 82\.002 ms"):
        check_base_rtt(overtaken, plan)
    with pytest.raises(CheckFailedError, match=r"RTT is 170\.000 ms"):
        check_base_rtt(_pings(164.002, 82.002, 170.0, 82.002), reordering)
    with pytest.raises(CheckFailedError, match=r"RTT is 90\.000 ms, not 82\.0016 ms"):
        check_base_rtt(_pings(164.0, 90.0, 90.0, 90.0), reordering)
    idle = check_base_rtt(_pings(82.002, 82.003, 82.002), reordering)
    assert idle.rtt_ms is None
    assert "all 3 pings that came back over the idle path overtook others" in idle.warnings[0]
