"""Asked: words of the command line, the plan they mean, and the options that say them."""

from __future__ import annotations

import json

import pytest

from farpath.base.errors import BadInputError
from farpath.base.options import PATH, Option, options_of
from farpath.planning.path_options import choice_text, resolve_path
from farpath.planning.request import RunRequest
from farpath.record.identity import plan_identity
from farpath.runs.run_set import product_set
from farpath.spec.plan import Plan
from tests.support.plans import request_of
from tests.support.refusals import refused


def test_nothing_asked_is_h_tcp_in_seven_regions_to_cern() -> None:
    plan = RunRequest().plan()
    origins = plan.path.sources
    assert (plan.path.name, plan.stacks[0].label, plan.schedule.name) == (
        *("cern", "htcp"),
        "seven-regions",
    )
    assert origins["rtt_ms"].startswith("path cern (the default)")


def test_an_rtt_is_the_name_of_a_path_where_the_front_door_asks_and_nothing_else_is_said() -> None:
    alone = RunRequest(rtt="164ms", stack="bbr", time="5s", seed="3", ip="6")
    assert alone.plan(path_by_rtt=True).path.loss == resolve_path(name="cern").loss
    assert alone.plan().path.loss == 0


@pytest.mark.parametrize(
    "option",
    [
        option
        for option in options_of(RunRequest)
        if option.name not in ("path", "rtt")
        and (option.group == PATH or option.name in ("background", "window", "sysctl"))
    ],
    ids=lambda option: option.name,
)
def test_beside_any_other_option_of_a_path_an_rtt_names_none(option: Option) -> None:
    of_options = {"up_buffer": {"up_rate": "1Mbit"}, "corrupt": {"stack": "quic_ngtcp2"}}
    needed = of_options.get(option.name, {})
    plan = RunRequest(rtt="164ms", **{option.name: option.example}, **needed).plan(path_by_rtt=True)
    assert plan.path.name.startswith("custom")
    assert choice_text(plan.path) == "path cern has this RTT too: --path=cern"


def test_a_sweep_of_rtts_changes_nothing_but_the_rtt() -> None:
    swept = product_set(RunRequest(rate="50Mbit", time="5s"), {"rtt": ("119ms", "120ms")})
    buffers = [run.plan.path.buffer_bytes for run in swept.runs]
    assert buffers == [743_750, 750_000]
    (alone,) = product_set(RunRequest(rtt="164ms", time="5s"), {}).runs
    assert alone.plan.path.name == "custom"


def test_options_say_what_was_asked_and_no_default() -> None:
    request = RunRequest(path="ufl", drop="every:1000", acks="each", stack="reno", seed="2")
    assert request.options() == (
        *("--path=ufl", "--drop=every:1000", "--acks=each", "--stack=reno", "--seed=2"),
    )
    assert request_of(request.options()) == request
    assert RunRequest().options() == ()


def test_a_time_is_one_region_of_flows_that_start_at_once() -> None:
    assert RunRequest(time="30s").plan() == RunRequest(schedule="together", region="30s").plan()
    for more in ({"region": "10s"}, {"schedule": "joining"}):
        with refused("time", "30s"):
            RunRequest(time="30s", **more).plan()


def test_parallel_flows_are_of_one_stack_and_start_at_once() -> None:
    plan = RunRequest(stack="cubic", parallel="3", time="10s").plan()
    assert plan == RunRequest(stack="3xcubic", schedule="together", region="10s").plan()
    assert RunRequest(parallel="2", region="5s").plan().schedule.duration_s == 5
    for more, message in (
        ({"parallel": "0"}, "parallel is '0': it must be a whole number from 1 to 100"),
        ({"parallel": "2", "stack": "cubic+bbr"}, r"give|say how many .* 2xcubic\+bbr"),
        ({"parallel": "2", "schedule": "joining"}, "parallel is '2': schedule is 'joining'"),
    ):
        with pytest.raises(BadInputError, match=message):
            RunRequest(**more).plan()


def test_each_flow_may_send_a_number_of_bytes_within_its_time() -> None:
    plan = RunRequest(stack="cubic", time="10s", bytes="100MB").plan()
    without = RunRequest(stack="cubic", time="10s").plan()
    assert (plan.schedule, plan.transfer_bytes) == (without.schedule, 100_000_000)
    assert plan_identity(plan) != plan_identity(without)
    assert Plan.from_dict(json.loads(plan.to_json())) == plan
    assert RunRequest(bytes="1G", region="5s").plan().transfer_bytes == 10**9
    assert RunRequest(bytes="1G").plan().schedule.name == "together"
    assert RunRequest(bytes="1G", schedule="joining").plan().schedule.name == "joining"
    for more, message in (
        ({"bytes": "0"}, "bytes is '0': .*out of range; .* between 1 byte and 100 GB"),
        ({"bytes": "0.5"}, "not a whole number|out of range"),
        ({"bytes": "1000003"}, r"bytes is '1000003': that is no whole number of equal blocks"),
        ({"bytes": "1MB", "stack": "udt"}, "bytes: the program of .*udt.* sends for a time"),
        ({"bytes": "1MB", "sink": "disk:1MB/s"}, "bytes: sink is read or written"),
    ):
        with pytest.raises(BadInputError, match=message):
            RunRequest(**more).plan()


def test_samples_may_be_closer_than_a_second() -> None:
    assert RunRequest(sample="0.2s").plan().settings.sample_interval_s == 0.2
    queue_only = RunRequest(sample="10ms").plan().settings
    assert (queue_only.sample_interval_s, queue_only.flow_interval_s) == (0.01, 0.1)
    for text in ("9ms", "2s", "150ms"):
        with refused("sample", text):
            RunRequest(sample=text).plan()


def test_a_window_is_what_receivers_offer_at_most() -> None:
    plan = RunRequest(rtt="50ms", window="2MiB").plan()
    origins = plan.path.sources
    assert plan.path.window_bytes == 2 << 20
    assert origins["window_bytes"] == "given"


def test_settings_of_hosts_stand_beside_the_paths_own() -> None:
    for request in (
        RunRequest(sysctl="net.ipv4.tcp_sack=0"),
        RunRequest(rtt="50ms", sysctl="net.ipv4.tcp_sack=0"),
    ):
        plan = request.plan()
        assert plan.path.sysctl["net.ipv4.tcp_sack"] == "0"
        assert "net.ipv4.tcp_rmem" in plan.path.sysctl
    changed = RunRequest(sysctl="net.ipv4.tcp_sack=0").plan()
    assert changed.path.name == "cern-changed"


@pytest.mark.parametrize(("acks", "delayed"), [("each", False), ("delayed", True), (None, True)])
def test_acks_are_delayed_unless_each_packet_is_to_be_acknowledged(
    acks: str | None, delayed: bool
) -> None:
    plan = RunRequest(acks=acks).plan()
    assert plan.settings.delayed_ack is delayed


@pytest.mark.parametrize(
    ("run_request", "option"),
    [
        (RunRequest(acks="some"), "acks"),
        (RunRequest(sysctl="kernel.panic=1"), "sysctl"),
        (RunRequest(sysctl="net.ipv4.tcp_sack"), "sysctl"),
        (RunRequest(sysctl="net/../kernel/panic=1"), "sysctl"),
        (RunRequest(window="1kB"), "window"),
        (RunRequest(window="100MB", path="cern"), "window"),
        (RunRequest(seed="0"), "seed"),
        (RunRequest(lab="moon"), "lab"),
    ],
)
def test_a_word_that_means_nothing_is_refused(run_request: RunRequest, option: str) -> None:
    with refused(option):
        run_request.plan()
