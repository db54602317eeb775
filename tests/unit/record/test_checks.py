"""Checks: each way in which a run can differ from what was asked fails it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.planning.path_files import path_by_name
from farpath.planning.request import RunRequest
from farpath.record.checks import (
    check_flows,
    check_hops,
    late_flows,
    slow_machine_errors,
)
from farpath.record.record import Samples
from farpath.spec.plan import Plan

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


@pytest.mark.parametrize(("part", "is_late"), [(0.0, False), (0.48, False), (0.52, True)])
def test_a_flow_that_begins_after_the_middle_of_its_first_region_is_warned_of(
    samples: Samples, plan: Plan, part: float, is_late: bool
) -> None:
    flows, region = samples.flows.copy(), plan.schedule.regions()[1]
    late_s = part * (region.stop_s - region.start_s)
    of_second = flows["flow"] == "flow2"
    begin_s = (flows["t_s"] - flows["interval_s"])[of_second].iloc[0]
    flows.loc[of_second, "t_s"] += region.start_s + late_s - begin_s
    warnings = late_flows(dataclasses.replace(samples, flows=flows), plan)
    assert [text.partition(",")[0] for text in warnings] == (
        [f"flow2 began {late_s:.1f} s after its start"] if is_late else []
    )


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
    assert "lower rate" in caught.value.message


def test_on_a_machine_without_doubts_a_failed_reading_stays_what_it_is() -> None:
    with (
        pytest.raises(LabFailedError, match=r"^flow1 sent in 38 intervals of 40$"),
        slow_machine_errors([]),
    ):
        raise LabFailedError("flow1 sent in 38 intervals of 40")
