"""What RATE, RTT, UP_RATE and UP_BUFFER mean, and what is refused in one line."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import BadInputError
from farpath.mechanisms.changes.rate_traces import read_trace
from farpath.mechanisms.changes.timeline_text import rate_text, rtt_text
from farpath.planning.path_files import path_by_name
from farpath.planning.path_options import KINDS, resolve_path
from farpath.planning.request import RunRequest
from farpath.record.identity import plan_identity
from farpath.report.repeat import command_of
from farpath.spec.changes import RateChanges, RttChanges
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import (
    Bottleneck,
    DeliveryBottleneck,
    LinkBottleneck,
    NetemDelay,
    TbfBottleneck,
)
from tests.support.refusals import refused
from topologies import lay_out

SHORT: dict[str, Any] = {"rtt": "50ms", "stack": "cubic", "time": "40s"}


def _refused(**options: str) -> str:
    with pytest.raises(BadInputError) as error:
        RunRequest(**{**SHORT, **options}).plan()
    assert "\n" not in error.value.message
    return error.value.message


def _queues(plan: Plan) -> list[Any]:
    return [port.queue for port in lay_out(plan).ports if port.queue]


def test_steps_are_read_with_their_times_and_when_they_begin_again() -> None:
    path = resolve_path(rtt="50ms, 15s:80ms, repeat:30s", rate="100Mbit,30s:20Mbit,1min:1Gbit")
    assert path.rtt_changes == RttChanges((15.0,), 30.0, (80.0,))
    assert path.rate_changes == RateChanges((30.0, 60.0), 0.0, (20_000_000, 1_000_000_000))
    assert (path.rtt_ms, path.rate_bps) == (50.0, 100_000_000)
    assert path.sources["rate_changes"] == path.sources["rtt_changes"] == "given"
    assert rtt_text(path) == "50ms,15s:80ms,repeat:30s"
    assert rate_text(path) == "100Mbit,30s:20Mbit,60s:1000Mbit"


def test_a_path_that_does_not_change_is_what_it_was() -> None:
    path = resolve_path(rtt="50ms", rate="100Mbit")
    assert (path.rate_changes, path.rtt_changes, path.rate_trace) == (None, None, ())
    assert "rate_changes" not in path.sources


def test_the_window_fits_the_highest_rate_and_the_longest_rtt() -> None:
    path = resolve_path(rtt="50ms,1s:200ms", rate="100Mbit,1s:1Gbit")
    assert path.window_bytes == 2 * 25_000_000 + 625_000
    assert path.buffer_bytes == 625_000


def test_a_far_link_has_the_least_delay_and_netem_what_is_above_it() -> None:
    plan = RunRequest(**{**SHORT, "rtt": "50ms,15s:80ms,30s:40ms"}).plan()
    (link,) = lay_out(plan).far_links
    assert link.far_delays_s == (0.02, 0.02)
    for line in (link.one.queue, link.other.queue):
        assert isinstance(line, NetemDelay)
        assert line.delay_s == pytest.approx(0.005)
        assert [at_s for at_s, _ in line.changes] == [15.0, 30.0]
        assert [later.delay_s for _, later in line.changes] == pytest.approx([0.02, 0.0])


def test_in_one_guest_netem_has_the_whole_changing_delay() -> None:
    plan = RunRequest(**{**SHORT, "rtt": "50ms,15s:80ms"}).plan().in_one_guest()
    lines = [queue for queue in _queues(plan) if isinstance(queue, NetemDelay)]
    assert [line.changes[0][1].delay_s for line in lines] == [0.04, 0.04]


def test_a_bottleneck_changes_its_rate_and_keeps_its_buffer() -> None:
    plan = RunRequest(**SHORT, rate="100Mbit,30s:20Mbit", buffer="100packets").plan()
    (queue,) = [queue for queue in _queues(plan) if isinstance(queue, Bottleneck)]
    ((at_s, later),) = queue.changes
    assert (at_s, later.rate_bps, later.buffer_bytes) == (30.0, 20_000_000, queue.buffer_bytes)
    assert isinstance(later, LinkBottleneck)
    assert later.options["rate_bps"] == 20_000_000
    assert later.tc_lines("X", "change") == []
    # tbf sets the limit of the queue below it anew, in bytes
    tbf = TbfBottleneck(20_000_000, queue.buffer_bytes, 1514, 100, lateness_s=2e-6)
    root, pfifo = tbf.tc_lines("X", "change")
    assert root.startswith("qdisc change dev X root handle 1: tbf rate 20000000bit burst 1578 ")
    assert pfifo == "qdisc change dev X parent 1:1 handle 10: pfifo limit 100"


def test_a_change_of_a_delay_names_no_seed() -> None:
    line = NetemDelay(0.01, 1e-3, seed=7, delay_changes=((1.0, 0.02),))
    ((_, later),) = line.changes
    assert "seed" not in later.tc_lines("X", "change")[0]
    assert "loss random 0.1" in later.tc_lines("X", "change")[0]


def test_the_way_back_has_its_own_rate_and_a_buffer_of_its_product() -> None:
    plan = RunRequest(**SHORT, rate="100Mbit", up_rate="40Mbit").plan()
    rates = [queue for queue in _queues(plan) if isinstance(queue, Bottleneck)]
    assert [(rate.rate_bps, rate.buffer_bytes) for rate in rates] == [
        (100_000_000, 625_000),
        (40_000_000, 250_000),
    ]
    assert resolve_path(rtt="50ms", up_rate="1Mbit", up_buffer="50ms").up_buffer_bytes == 6_250


def test_flows_in_the_other_direction_meet_the_way_backs_rate() -> None:
    plan = RunRequest(**SHORT, rate="100Mbit", up_rate="40Mbit", reverse="reno").plan()
    rates = [queue.rate_bps for queue in _queues(plan) if isinstance(queue, Bottleneck)]
    assert rates == [100_000_000, 40_000_000]


def test_a_trace_is_read_into_the_plan(tmp_path: FilePath) -> None:
    file = tmp_path / "mine.down"
    file.write_text("0\n1\n1\n10\n")
    plan = RunRequest(**SHORT, rate=f"trace:{file}", buffer="10packets").plan()
    assert plan.path.rate_trace == (0, 1, 1, 10)
    assert plan.path.rate_bps == round(4 * 1514 * 8 / 0.01)
    assert DeliveryBottleneck(plan.path.rate_bps, 15_140, 1514, 10) in _queues(plan)
    assert Plan.from_dict(json.loads(plan.to_json())) == plan
    assert command_of(plan) is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "it has no line"),
        ("0\n0\n", "all its times are 0"),
        ("5\n3\n", "its times must not fall, and 3 comes after 5"),
        ("1\n2.5\n", "line 2 is '2.5'; it must be a time in whole ms"),
        ("-1\n", "line 1 is '-1'"),
        ("86400000\n", "its mean is 0 bit/s"),
    ],
)
def test_a_file_that_is_no_trace_is_refused(tmp_path: FilePath, content: str, problem: str) -> None:
    file = tmp_path / "bad"
    file.write_text(content)
    message = _refused(rate=f"trace:{file}")
    assert message.startswith(f"rate is 'trace:{file}': ")
    assert problem in message
    assert "No such file" in _refused(rate=f"trace:{file}.none")


def test_a_trace_is_a_regular_file_that_ends(tmp_path: FilePath) -> None:
    fifo, directory, endless = tmp_path / "fifo", tmp_path / "directory", tmp_path / "endless"
    os.mkfifo(fifo)
    directory.mkdir()
    with endless.open("wb") as file:
        file.truncate(1 << 40)
    problems = {
        fifo: "it is a FIFO, no regular file",
        directory: "Is a directory",
        endless: "it holds more than 10 MiB",
        "/dev/zero": "it is a device, no regular file",
        "~nobody.at.all/trace": "No such file",
    }
    for name, problem in problems.items():
        assert _refused(rate=f"trace:{name}") == f"rate is 'trace:{name}': {name}: {problem}" + (
            " or directory" if problem == "No such file" else ""
        )


def test_a_byte_order_mark_before_a_trace_is_left_out(tmp_path: FilePath) -> None:
    file = tmp_path / "even.down"
    file.write_bytes(b"\xef\xbb\xbf1\n2\n3\n")
    assert read_trace(f"trace:{file}") == (1, 2, 3)


@pytest.mark.parametrize(
    ("queue", "below"),
    [
        ("droptail", []),
        ("codel:target=5ms", ["qdisc add dev s1 parent 1:1 handle 10: codel limit 10 target 5ms"]),
        # tc does not know it: the guest sets it by rtnetlink
        ("dualpi2", []),
    ],
)
def test_an_active_queue_stands_below_a_trace_in_the_place_of_its_buffer(
    tmp_path: FilePath, queue: str, below: list[str]
) -> None:
    file = tmp_path / "even.down"
    file.write_text("".join(f"{time_ms}\n" for time_ms in range(1, 11)))
    options = {"rate": f"trace:{file}", "queue": queue, "buffer": "10packets"}
    (link,) = (
        queue
        for queue in _queues(RunRequest(**{**SHORT, **options}).plan())
        if isinstance(queue, DeliveryBottleneck)
    )
    assert link.tc_lines("s1") == ["qdisc add dev s1 root handle 1: deliveries", *below]
    assert link.aqm_kind == ("" if queue == "droptail" else queue.partition(":")[0])
    assert link.child_differences({"kind": "pfifo", "options": {}})
    assert bool(link.child_differences({})) == bool(link.aqm)


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"rate": "100Mbit,30s"}, "rate"),
        ({"rate": "100Mbit,:1Mbit"}, "rate"),
        ({"rate": "100Mbit,3s:2Mbit,2s:1Mbit"}, "rate"),
        ({"rate": "100Mbit,1s:1kbit"}, "rate"),
        ({"rate": "100Mbit,1s:20Mbit,repeat:1s"}, "rate"),
        ({"rate": "100Mbit,repeat:1s"}, "rate"),
        ({"rate": "100Mbit,40s:20Mbit"}, "rate"),
        ({"rtt": "50ms,15:80ms"}, "rtt"),
        ({"rtt": "50ms,1s:20s"}, "rtt"),
        ({"rtt": "50ms,1s:1ms", "jitter": "2ms"}, "jitter"),
        ({"rtt": "50ms,1s:60ms", "topology": "parking-lot"}, "rtt"),
        ({"rate": "100Mbit,1s:20Mbit", "clock": "cpu"}, "rate"),
        ({"rate": "100Mbit,1s:20Mbit", "lab": "host"}, "rate"),
        ({"up_rate": "1Mbit", "lab": "host"}, "up_rate"),
        ({"up_rate": "1Mbit", "topology": "parking-lot"}, "up_rate"),
        ({"up_buffer": "1MB"}, "up_buffer"),
        ({"up_buffer": "50ms"}, "up_buffer"),
        ({"up_rate": "1Mbit", "up_buffer": "3000"}, "up_buffer"),
    ],
)
def test_bad_input_is_refused_in_a_line_that_names_the_option(
    options: dict[str, str], option: str
) -> None:
    with refused(option):
        RunRequest(**{**SHORT, **options}).plan()


@pytest.mark.parametrize(
    "options",
    [
        {"rtt": "50ms,15s:80ms,repeat:30s", "rate": "100Mbit,30s:20Mbit"},
        {"rate": "50Mbit", "up_rate": "2Mbit", "up_buffer": "64kB"},
        {"path": "leo", "rtt": None},
        {"path": "lte", "rtt": None, "up_rate": "1Mbit"},
        {"path": "lte", "rtt": None, "rate": "10Mbit"},
    ],
)
def test_a_run_over_a_changing_path_can_be_repeated_by_its_command(
    options: dict[str, Any],
) -> None:
    plan = RunRequest(**{**SHORT, **options}).plan()
    command = command_of(plan)
    assert command is not None
    words = dict(word.removeprefix("--").split("=", 1) for word in command.split()[2:])
    again = RunRequest(**{name.replace("-", "_"): value for name, value in words.items()}).plan()
    assert plan_identity(again) == plan_identity(plan)
    assert plan_identity(Plan.from_dict(json.loads(plan.to_json()))) == plan_identity(plan)


def test_a_given_rate_ends_the_changes_of_a_named_path() -> None:
    path = resolve_path("lte", rate="10Mbit")
    assert path.rate_changes is None
    assert path.name == "lte-changed"
    assert "rate_changes" not in path.sources


@pytest.mark.parametrize("name", KINDS)
def test_the_rtt_of_a_path_of_a_kind_does_not_choose_it(name: str) -> None:
    path = path_by_name(name)
    assert resolve_path(rtt=f"{path.rtt_ms}ms").name == "custom"
    assert RunRequest(path=name, stack="cubic", time="5s").plan().path == resolve_path(name)


def test_the_synthetic_cellular_path_is_its_formula() -> None:
    changes = path_by_name("lte").rate_changes
    assert changes is not None
    for at_s, rate_bps in zip(changes.at_s, changes.rate_bps, strict=True):
        power = math.sin(2 * math.pi * at_s / 20) + math.sin(2 * math.pi * at_s / 3.75) / 2
        assert rate_bps == pytest.approx(13e6 * 2**power, abs=0.05e6)
