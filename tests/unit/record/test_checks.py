"""Checks: each way in which a run can differ from what was asked fails it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.mechanisms.disk import check_disks
from farpath.mechanisms.dropper import check_droppers, parse_droppers
from farpath.mechanisms.trace import check_trace
from farpath.mechanisms.trace import table as trace_table
from farpath.mechanisms.traffic.checks import check_background
from farpath.planning.path_files import path_by_name
from farpath.planning.request import RunRequest
from farpath.record.checks import (
    check_flows,
    check_hops,
    slow_machine_errors,
)
from farpath.record.record import Samples
from farpath.spec.background import on_periods, sent_bytes
from farpath.spec.plan import Plan
from tests.support.plans import with_droppers
from tests.support.traces import samples_like, write_raw_trace

PATH = path_by_name("cern")


def _hops(*names: str) -> str:
    lines = [
        f"{number:2}  {name} (10.{number}.255.1)  0.001 ms  0.000 ms  0.000 ms"
        if name != "*"
        else f"{number:2}  * * *"
        for number, name in enumerate(names, start=1)
    ]
    return "\n".join(["traceroute to receiver (10.9.0.1), 9 hops max, 60 byte packets", *lines])


ROUTED = RunRequest(path="caltech", topology="routed", loss="0").plan()
HOPS = (*ROUTED.path.hop_names, "receiver")


def test_the_paths_hops_are_accepted_and_given_back() -> None:
    hops = check_hops(_hops(*HOPS), ROUTED)
    assert [hop["name"] for hop in hops] == list(HOPS)
    assert hops[1]["address"] == "10.2.255.1"
    assert hops[8]["rtts_ms"] == [0.001, 0.0, 0.0]


@pytest.mark.parametrize(
    "names",
    [
        HOPS[:-1],
        (*HOPS[:1], HOPS[2], HOPS[1], *HOPS[3:]),
        (*HOPS[:-1], HOPS[-2]),
        (*HOPS[:-1], "*"),
        (*HOPS[:3], "*", *HOPS[4:]),
    ],
    ids=["too few", "in another order", "a loop", "no receiver", "a silent router"],
)
def test_other_hops_than_the_paths_fail_the_run(names: tuple[str, ...]) -> None:
    with pytest.raises(CheckFailedError) as caught:
        check_hops(_hops(*names), ROUTED)
    shown, wanted = ", ".join(names), ", ".join(HOPS)
    assert caught.value.message == f"traceroute shows the hops {shown}, not {wanted}"


def test_a_lossy_path_may_lose_all_probes_of_the_receiver() -> None:
    lossy = RunRequest(path="caltech", topology="routed", loss="20%").plan()
    last = check_hops(_hops(*HOPS[:-1], "*"), lossy)[-1]
    assert last == {"name": "receiver", "address": "", "rtts_ms": []}
    with pytest.raises(CheckFailedError, match="shows the hops"):
        check_hops(_hops(*HOPS[:-2], "*", "receiver"), lossy)


def test_flows_that_carried_data_are_accepted(samples: Samples, plan: Plan) -> None:
    assert check_flows(samples, FilePath("no raw output is needed"), plan) == []


@pytest.mark.parametrize("name", ["flow1", "flow2"])
def test_a_flow_without_samples_fails_the_run(samples: Samples, plan: Plan, name: str) -> None:
    without = samples.flows[samples.flows["flow"] != name]
    with pytest.raises(CheckFailedError, match=rf"{name} carried nothing: its packets or"):
        check_flows(dataclasses.replace(samples, flows=without), FilePath(), plan)


def test_flows_of_which_none_carried_anything_fail_the_run(samples: Samples, plan: Plan) -> None:
    silent = dataclasses.replace(samples, flows=samples.flows.assign(throughput_bps=0.0))
    with pytest.raises(CheckFailedError, match="flow1 carried nothing"):
        check_flows(silent, FilePath(), plan)


def _report(*block_bytes: int) -> str:
    """A sending iperf3's report of an interval of a second for each number of bytes."""
    ends = enumerate(block_bytes)
    streams = [
        {"start": start, "end": start + 1, "bytes": sent, "retransmits": 1}
        | {"snd_cwnd": 1448, "snd_wnd": 65536, "rtt": 164000}
        for start, sent in ends
    ]
    return json.dumps({"intervals": [{"streams": [stream]} for stream in streams]})


@pytest.mark.parametrize(("sent_bytes", "is_starved"), [((0, 131_072), True), ((0, 0), False)])
def test_a_flow_beside_others_that_sent_what_nobody_read_was_starved(
    samples: Samples, plan: Plan, tmp_path: FilePath, sent_bytes: tuple[int, ...], is_starved: bool
) -> None:
    (tmp_path / "flow2-sender.out").write_text(_report(*sent_bytes))
    flows = samples.flows.copy()
    flows.loc[flows["flow"] == "flow2", "throughput_bps"] = 0.0
    silent = dataclasses.replace(samples, flows=flows)
    if is_starved:
        (warning,) = check_flows(silent, tmp_path, plan)
        assert "flow2 was starved by the other flows" in warning
    else:
        with pytest.raises(CheckFailedError, match="flow2 carried nothing"):
            check_flows(silent, tmp_path, plan)


DOUBTS = ["slow machine: one core was busy for more than 90% in 40% of the seconds"]


def _starved() -> None:
    with slow_machine_errors(DOUBTS):
        raise LabFailedError("flow1 sent in 38 intervals of 40")


def test_what_a_starved_program_did_is_the_doubtful_machine_s_fault() -> None:
    with pytest.raises(CheckFailedError, match="too slow for the path: flow1 sent in 38") as caught:
        _starved()
    assert "one core was busy" in caught.value.message
    assert "lower RATE" in caught.value.message


def test_on_a_machine_without_doubts_a_failed_reading_stays_what_it_is() -> None:
    with (
        pytest.raises(LabFailedError, match=r"^flow1 sent in 38 intervals of 40$"),
        slow_machine_errors([]),
    ):
        raise LabFailedError("flow1 sent in 38 intervals of 40")


def test_a_good_trace_passes_its_check(tracing: Plan, samples: Samples, tmp_path: FilePath) -> None:
    write_raw_trace(tmp_path, tracing, ticks=1012)
    tcp_trace = trace_table.from_raw(tmp_path, tracing)
    assert check_trace(tcp_trace, samples_like(samples, tracing).flows, tracing) == []
    assert check_trace(None, samples.flows, tracing) == []


@pytest.mark.parametrize(
    ("ticks", "requests", "bytes_per_s", "message"),
    [
        (1000, 1000, 1e6, "1,000 of 1,000 ticks, not 1,001"),
        (1001, 990, 1e6, "990 of 1,001 ticks"),
        (1001, 1001, 9e6, "flow1 ends with 10.0 MB acknowledged, but its receiver took 90.0 MB"),
    ],
)
def test_a_trace_with_ticks_or_bytes_missing_fails_the_run(
    tracing: Plan, samples: Samples, tmp_path: FilePath,
    ticks: int, requests: int, bytes_per_s: float, message: str,
) -> None:  # fmt: skip
    write_raw_trace(tmp_path, tracing, ticks, requests)
    tcp_trace = trace_table.from_raw(tmp_path, tracing)
    with pytest.raises(CheckFailedError, match=message):
        check_trace(tcp_trace, samples_like(samples, tracing, bytes_per_s).flows, tracing)


def test_a_late_machine_in_real_time_is_a_warning(
    tracing: Plan, samples: Samples, tmp_path: FilePath
) -> None:
    real = dataclasses.replace(
        tracing, settings=dataclasses.replace(tracing.settings, clock="wall")
    )
    write_raw_trace(tmp_path, real, 1001, 998)
    tcp_trace = trace_table.from_raw(tmp_path, real)
    (warning,) = check_trace(tcp_trace, samples_like(samples, real).flows, real)
    assert "the trace of sender lacks 3 of 1,001 ticks" in warning


def background_sent(plan: Plan, part: float) -> dict[str, Any]:
    assert plan.path.background
    return background_counted(
        part * sent_bytes(plan.path.background, plan.seed, plan.schedule.duration_s)
    )


def background_counted(sent: float) -> dict[str, Any]:
    return {"before": {"background_bytes": 100}, "after": {"background_bytes": 100 + sent}}


def test_what_the_path_has_is_accepted(busy: Plan) -> None:
    check_background(background_sent(busy, 1.0), busy)


def test_the_kernels_sources_send_what_their_turns_allow_and_a_frame_for_each(busy: Plan) -> None:
    background = busy.path.background
    assert background
    duration_s = busy.schedule.duration_s
    allowed = sent_bytes(background, busy.seed, duration_s)
    turns = len(on_periods(background, busy.seed, duration_s))
    check_background(background_counted(allowed + turns * busy.path.frame_bytes), busy)
    with pytest.raises(CheckFailedError, match="background traffic was"):
        check_background(background_counted(allowed + 4 * turns * busy.path.frame_bytes), busy)


@pytest.mark.parametrize(
    ("options", "sent_bytes_more"),
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
    options: dict[str, str], sent_bytes_more: int
) -> None:
    """What programs of runs of 5 s sent beyond their turns."""
    words = {"region": "5s", "schedule": "together", "stack": "reno", "lab": "host"}
    plan = RunRequest(**words, **options).plan()
    background = plan.path.background
    assert background
    wanted = sent_bytes(background, plan.seed, 5.0)
    check_background(background_counted(wanted + sent_bytes_more), plan)
    another_second = background.mean_rate_bps / 8
    for sent in (wanted + sent_bytes_more + another_second, wanted - another_second):
        with pytest.raises(CheckFailedError, match="background traffic was"):
            check_background(background_counted(sent), plan)


@pytest.mark.parametrize("part", [0.0, 0.5, 1.2])
def test_a_run_with_other_traffic_than_asked_fails(busy: Plan, part: float) -> None:
    with pytest.raises(CheckFailedError, match=r"background traffic was .* MB, not .* MB"):
        check_background(background_sent(busy, part), busy)


def test_a_path_without_background_needs_none(plan: Plan) -> None:
    check_background({}, plan)


def after_dropper(**counts: int) -> dict[str, Any]:
    return {"after": {"droppers": [{"dropper": "it", **counts}]}}


@pytest.mark.parametrize(
    ("drop", "seen", "lost", "complaint"),
    [
        ("every:10", 99, 9, ""),
        ("every:10", 99, 10, "took 10 of 99 packets, not 9"),
        ("packets:5,100", 99, 1, "not 2: a packet that it should drop never came"),
        ("packets:5,100", 100, 2, ""),
        ("at:3s,4s", 99, 2, ""),
        ("at:3s,4s", 99, 1, "never came"),
        ("burst:1e-6,0.3", 10**9, 0, "more than its bursts were drawn for"),
        ("random:1e-6", 10**9, 1000, "more than its losses were drawn for"),
        ("every:10", 0, 0, "saw no packet"),
        ("random:0.1,direction=back", 0, 0, "saw no packet"),
    ],
)
def test_a_run_fails_if_others_were_lost_than_asked(
    plan: Plan, drop: str, seen: int, lost: int, complaint: str
) -> None:
    dropping = with_droppers(plan, parse_droppers(drop))
    if not complaint:
        check_droppers(after_dropper(seen=seen, lost=lost), dropping)
        return
    with pytest.raises(CheckFailedError, match=complaint):
        check_droppers(after_dropper(seen=seen, lost=lost), dropping)


def test_random_losses_are_those_of_the_seed(plan: Plan) -> None:
    dropping = with_droppers(plan, parse_droppers("random:0.1"))
    lost = len(dropping.droppers[0].positions(plan.seed, 1000))
    check_droppers(after_dropper(seen=1000, lost=lost), dropping)
    with pytest.raises(CheckFailedError, match=f"took {lost + 1} of 1,000 packets, not {lost}"):
        check_droppers(after_dropper(seen=1000, lost=lost + 1), dropping)


@pytest.mark.parametrize("drop", ["every:1000", "random:1e-6", "burst:1e-6,0.5"])
def test_a_dropper_whose_turn_never_came_is_warned_of(plan: Plan, drop: str) -> None:
    dropping = with_droppers(plan, parse_droppers(drop))
    (warning,) = check_droppers(after_dropper(seen=999, lost=0), dropping)
    assert warning == f"DROP {dropping.droppers[0]} lost nothing: it saw 999 packets"


def test_a_dropper_that_took_some_is_not_warned_of(plan: Plan) -> None:
    dropping = with_droppers(plan, parse_droppers("every:1000"))
    assert check_droppers(after_dropper(seen=1000, lost=1), dropping) == []


def _write_reports(raw_dir: FilePath, flow: str, blocks: int) -> None:
    """What iperf3 reports at both ends of a flow of so many blocks of 128 KiB."""
    row = {"start": 0.0, "end": 1.0, "bytes": blocks * 131_072, "retransmits": 0}
    row |= {"snd_cwnd": 1, "snd_wnd": 1, "rtt": 1}
    for side in ("sender", "receiver"):
        text = json.dumps({"intervals": [{"streams": [row]}]})
        (raw_dir / f"{flow}-{side}.out").write_text(text)


@pytest.mark.parametrize(("blocks", "fits"), [(100, True), (102, True), (97, False), (103, False)])
def test_a_disk_has_the_bytes_of_its_flows(tmp_path: FilePath, blocks: int, fits: bool) -> None:
    plan = RunRequest(rtt="20ms", stack="reno", time="5s", sink="disk:5MB/s").plan()
    _write_reports(tmp_path, "flow1", 100)
    readback = {"after": {"disks": {"receiver": {"moved_bytes": blocks * 131_072}}}}
    if fits:
        check_disks(readback, tmp_path, plan)
    else:
        with pytest.raises(CheckFailedError, match=r"the disk of receiver has .* the flows there"):
            check_disks(readback, tmp_path, plan)
