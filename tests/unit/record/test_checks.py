"""Checks: each way in which a run can differ from what was asked fails it."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.planning.request import RunRequest
from farpath.record.checks import (
    RTT_TOLERANCE_MS,
    blamed_on_machine,
    check_base_rtt,
    check_flows,
    check_segments,
    check_windows,
)
from farpath.record.record import Samples
from farpath.spec.plan import Plan
from farpath.spec.schedule import seven_regions

PATH = path_by_name("cern")


def _on(clock: str) -> Plan:
    return make_plan(PATH, seven_regions("htcp", 10.0), 1, clock)


def _pings(*rtts_ms: float, sent: int = 5) -> str:
    lines = [
        f"[1100000000.{seq:06d}] 64 bytes from 10.0.0.2: icmp_seq={seq} ttl=64 time={rtt:.3f} ms"
        for seq, rtt in enumerate(rtts_ms, start=1)
    ]
    lost = 100 * (sent - len(rtts_ms)) / sent
    lines.append(f"{sent} packets transmitted, {len(rtts_ms)} received, {lost:g}% packet loss")
    return "\n".join(lines)


def test_the_paths_rtt_is_accepted_and_given_back() -> None:
    assert check_base_rtt(_pings(164.001, 164.0, 164.001), _on("virtual")) == 164.001


def test_one_late_ping_of_several_does_not_fail_a_run() -> None:
    assert check_base_rtt(_pings(900.0, 164.0, 164.0, 164.0, 164.0), _on("virtual")) == 164.0


@pytest.mark.parametrize("clock", RTT_TOLERANCE_MS)
@pytest.mark.parametrize("sign", [-1, 1])
def test_another_rtt_fails_the_run_on_every_clock(clock: str, sign: int) -> None:
    off_ms = RTT_TOLERANCE_MS[clock]
    # ping prints whole microseconds
    inside = 164 + sign * (math.ceil(off_ms * 1e3) - 1) / 1e3
    outside = 164 + sign * (math.floor(off_ms * 1e3) + 1) / 1e3
    assert check_base_rtt(_pings(inside, inside, inside), _on(clock)) == pytest.approx(inside)
    with pytest.raises(CheckFailedError) as caught:
        check_base_rtt(_pings(outside, outside, outside), _on(clock))
    assert f"not 164 ms (within {off_ms:g} ms on the {clock} clock)" in caught.value.message


def test_a_farther_senders_rtt_is_held_against_its_own() -> None:
    plan = RunRequest(path="cern", senders="rtt=200ms", schedule="together").plan()
    assert check_base_rtt(_pings(200.001, 200.001, 200.001), plan, "sender2") == 200.001
    with pytest.raises(CheckFailedError, match=r"RTT from sender2 is 164\.001 ms, not 200 ms"):
        check_base_rtt(_pings(164.001, 164.001, 164.001), plan, "sender2")
    with pytest.raises(CheckFailedError, match="no ping came back over the idle path from sender2"):
        check_base_rtt(_pings(), plan, "sender2")


def _sent_in_segments_of(raw: FilePath, plan: Plan, segment_bytes: int) -> None:
    for flow in plan.schedule.all_flows:
        said = {"start": {"tcp_mss_default": segment_bytes}, "intervals": [], "end": {}}
        (raw / f"{flow.name}-sender.out").write_text(json.dumps(said))


@pytest.mark.parametrize(("ip", "segment_bytes"), [("4", 1448), ("4", 1460), ("6", 1428)])
def test_segments_as_large_as_the_mtu_allows_are_accepted(
    tmp_path: FilePath, ip: str, segment_bytes: int
) -> None:
    plan = RunRequest(path="cern", ip=ip, reverse="reno").plan()
    _sent_in_segments_of(tmp_path, plan, segment_bytes)
    check_segments(tmp_path, plan)


@pytest.mark.parametrize(("ip", "segment_bytes"), [("6", 1448), ("4", 1428), ("4", 536)])
def test_segments_of_another_size_fail_the_run(
    tmp_path: FilePath, ip: str, segment_bytes: int
) -> None:
    plan = RunRequest(path="cern", ip=ip).plan()
    _sent_in_segments_of(tmp_path, plan, segment_bytes)
    with pytest.raises(CheckFailedError, match=f"flow1 sent segments of {segment_bytes} bytes"):
        check_segments(tmp_path, plan)


def test_pings_that_overtake_others_do_not_make_the_path_another() -> None:
    plan = _on("virtual")
    reordering = dataclasses.replace(plan, path=dataclasses.replace(plan.path, reorder=0.5))
    overtaken = _pings(164.014, 82.001, 164.001, 82.0, 164.0)
    assert check_base_rtt(overtaken, reordering) == 164.001
    overtaken = _pings(82.0, 82.001, 164.001, 82.0, 82.0)
    assert check_base_rtt(overtaken, reordering) == 164.001
    with pytest.raises(CheckFailedError, match=r"RTT is 82 ms|RTT is 82\.000 ms"):
        check_base_rtt(overtaken, plan)
    with pytest.raises(CheckFailedError, match=r"RTT is 170\.000 ms"):
        check_base_rtt(_pings(82.0, 170.0, 82.0), reordering)


def test_of_two_pings_that_came_back_the_first_may_be_late_for_learning_the_way() -> None:
    assert check_base_rtt(_pings(164.014), _on("virtual")) == 164.014
    with pytest.raises(CheckFailedError, match=r"RTT is 164\.014 ms"):
        check_base_rtt(_pings(164.014, 164.014, 164.0), _on("virtual"))
    with pytest.raises(CheckFailedError, match=r"RTT is 164\.100 ms"):
        check_base_rtt(_pings(164.1), _on("virtual"))


def test_an_idle_path_that_answers_no_ping_fails_the_run() -> None:
    with pytest.raises(CheckFailedError, match="no ping came back"):
        check_base_rtt(_pings(), _on("virtual"))


def test_a_ping_that_did_not_end_is_a_failed_lab() -> None:
    with pytest.raises(LabFailedError, match="ping did not come to its end"):
        check_base_rtt("PING 10.0.0.2", _on("virtual"))


def _with_windows(samples: Samples, plan: Plan, part: float) -> Samples:
    window = int(plan.path.window_bytes * part)
    return dataclasses.replace(samples, flows=samples.flows.assign(snd_wnd_bytes=window))


@pytest.mark.parametrize("part", [0.995, 1.0, 1.005])
def test_the_window_asked_for_is_accepted(samples: Samples, plan: Plan, part: float) -> None:
    check_windows(_with_windows(samples, plan, part), plan)


@pytest.mark.parametrize("part", [0.5, 0.85, 1.02, 2.0])
def test_another_window_fails_the_run(samples: Samples, plan: Plan, part: float) -> None:
    with pytest.raises(CheckFailedError, match=r"flow1 was offered a window of \d+ bytes"):
        check_windows(_with_windows(samples, plan, part), plan)


def _slowed(samples: Samples, factor: float) -> Samples:
    flows = samples.flows
    return dataclasses.replace(
        samples, flows=flows.assign(throughput_bps=flows["throughput_bps"] * factor)
    )


def test_a_flow_that_carried_little_need_not_have_seen_the_whole_window(
    samples: Samples, plan: Plan
) -> None:
    slow = _slowed(_with_windows(samples, plan, 0.5), 0.01)
    check_windows(slow, plan)
    with pytest.raises(CheckFailedError, match="offered a window"):
        check_windows(_slowed(_with_windows(samples, plan, 1.5), 0.01), plan)


def test_flows_that_carried_data_are_accepted(samples: Samples, plan: Plan) -> None:
    check_flows(samples, plan)


@pytest.mark.parametrize("name", ["flow1", "flow2"])
def test_a_flow_without_samples_fails_the_run(samples: Samples, plan: Plan, name: str) -> None:
    without = samples.flows[samples.flows["flow"] != name]
    with pytest.raises(CheckFailedError, match=rf"{name} carried nothing: its packets or"):
        check_flows(dataclasses.replace(samples, flows=without), plan)


def test_a_flow_that_carried_nothing_fails_the_run(samples: Samples, plan: Plan) -> None:
    with pytest.raises(CheckFailedError, match="flow1 carried nothing"):
        check_flows(_slowed(samples, 0.0), plan)


DOUBTS = ["slow machine: one core was busy for more than 90% in 40% of the seconds"]


def _starved() -> None:
    with blamed_on_machine(DOUBTS):
        raise LabFailedError("flow1 sent in 38 intervals of 40")


def test_what_a_starved_program_did_is_the_doubtful_machine_s_fault() -> None:
    with pytest.raises(CheckFailedError, match="too slow for the path: flow1 sent in 38") as caught:
        _starved()
    assert "one core was busy" in caught.value.message
    assert "lower RATE" in caught.value.message


def test_on_a_machine_without_doubts_a_failed_reading_stays_what_it_is() -> None:
    with (
        pytest.raises(LabFailedError, match=r"^flow1 sent in 38 intervals of 40$"),
        blamed_on_machine([]),
    ):
        raise LabFailedError("flow1 sent in 38 intervals of 40")
