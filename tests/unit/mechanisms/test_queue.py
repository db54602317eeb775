"""QUEUE's text, and the path, plan and warnings that it makes."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.mechanisms.queue.mechanism import parse_queue
from farpath.planning.path_files import load_path, named_paths
from farpath.planning.plan_warnings import plan_warnings
from farpath.planning.request import RunRequest
from farpath.record.identity import plan_identity
from farpath.report.repeat import command_of
from farpath.spec.aqm import Aqm
from farpath.spec.ecn import agreed_mode, host_setting
from farpath.spec.plan import Plan
from tests.support.refusals import refused


def _request(**more: str) -> RunRequest:
    return RunRequest(**({"rtt": "20ms", "rate": "50Mbit", "stack": "cubic", "time": "5s"} | more))


def _plan(**more: str) -> Plan:
    return _request(**more).plan()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fq_codl", "did you mean fq_codel"),
        ("fq_codel:targt=5ms", "did you mean target"),
        ("codel:target=5", "a number without a unit"),
        ("codel:target", "target needs a value"),
        ("codel:ecn=1", "ecn is a word without a value"),
        ("codel:target=1ms,target=2ms", "give target once"),
        ("codel:limit=5,limit=6", "give limit once"),
        ("droptail:limit=5", "droptail has no parameters"),
        ("fq_codel:flows=0", "between 1 and 65,536"),
        ("pie:alpha=1.5", "a whole number"),
    ],
)
def test_a_queue_that_tc_would_not_take_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message) as caught:
        parse_queue(text)
    assert caught.value.option == "queue"


def test_a_limit_is_the_buffer() -> None:
    path = _plan(queue="codel:limit=200").path
    assert (path.buffer_packets, path.buffer_bytes) == (200, 200 * 1514)
    assert _plan(queue="red:limit=300kB").path.buffer_bytes == 300_000
    with pytest.raises(BadInputError, match="the limit is the buffer"):
        _plan(queue="codel:limit=200", buffer="1MB")
    with pytest.raises(BadInputError, match="buffer is '1packets'"):
        _plan(queue="codel:limit=1")


def test_a_plan_without_the_options_keeps_its_identity() -> None:
    assert plan_identity(_plan()) == plan_identity(_plan(queue="droptail"))
    assert plan_identity(_plan()) != plan_identity(_plan(queue="codel"))
    assert plan_identity(_plan()) != plan_identity(_plan(ecn="on"))


def test_a_plan_comes_back_from_its_json_and_from_its_command() -> None:
    plan = _plan(queue="fq_codel:target=2ms,noecn,quantum=300,limit=500", ecn="accecn")
    assert Plan.from_dict(plan.as_dict()) == plan
    command = command_of(plan)
    assert command is not None
    assert "--queue=fq_codel:target=2ms,noecn,quantum=300B" in command
    assert "--ecn=accecn" in command


def test_ecn_where_nothing_marks_is_warned_of() -> None:
    (warning,) = plan_warnings(_plan(ecn="on", queue="codel"))
    assert "ECN=on" in warning
    assert "it is codel, which only drops without ecn" in warning
    (warning,) = plan_warnings(_plan(stack="dctcp", queue="fq_codel:noecn"))
    assert warning.startswith("dctcp reacts to packets marked by ECN")
    assert plan_warnings(_plan(stack="dctcp", queue="fq_codel")) == ()
    assert plan_warnings(_plan(ecn="off", queue="codel")) == ()


def test_l4s_is_for_hosts_that_send_by_a_stack_of_it() -> None:
    options = {"ecn": "l4s", "queue": "dualpi2", "senders": "rtt=20ms"}
    plan = _plan(stack="prague+cubic", **options)
    assert plan_warnings(plan) == ()
    first, second = plan.schedule.flows
    assert [agreed_mode(plan, flow) for flow in (first, second)] == ["accecn", "none"]
    assert [host_setting(plan, host)["net.ipv4.tcp_ecn"] for host in
            (first.sender, second.sender, first.receiver)] == ["3", "5", "5"]  # fmt: skip
    with refused("ecn", "l4s"):
        _plan(stack="dctcp+cubic", **options)


def test_a_queue_that_marks_as_of_old_is_warned_of_for_l4s() -> None:
    (warning,) = plan_warnings(_plan(stack="prague", ecn="l4s", queue="codel:ecn"))
    assert warning.startswith("prague sends ECT(1), which codel marks as ECT(0)")
    assert plan_warnings(_plan(stack="prague", queue="fq_codel:ce_threshold=1ms")) == ()
    (warning,) = plan_warnings(_plan(stack="prague"))
    assert warning.startswith("prague reacts to packets marked by ECN")


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"ecn": "l4s"}, "ecn"),
        ({"ecn": "yes"}, "ecn"),
        ({"ecn": "off", "stack": "dctcp"}, "ecn"),
        ({"ecn": "on", "stack": "prague"}, "ecn"),
        ({"ecn": "passive", "stack": "prague+cubic"}, "ecn"),
        ({"ecn": "on", "sysctl": "net.ipv4.tcp_ecn=0"}, "ecn"),
        ({"queue": "codel", "lab": "host"}, "queue"),
    ],
)
def test_contradictions_are_refused(options: dict[str, str], option: str) -> None:
    with refused(option):
        _plan(**options)


def test_a_path_file_names_its_queue_as_the_option_does(tmp_path: FilePath) -> None:
    text = named_paths()["caltech"].read_text()
    file = tmp_path / "caltech.toml"
    with_queue = text.replace("mtu_bytes", 'queue = "fq_codel:target=5ms"\nmtu_bytes', 1)
    file.write_text(with_queue.replace("[sources]", '[sources]\nqueue = "a router\'s manual"'))
    assert load_path(file).queue == Aqm("fq_codel", {"target": 0.005})
    file.write_text(file.read_text().replace("5ms", "5"))
    with pytest.raises(BadInputError, match="a number without a unit"):
        load_path(file)
    file.write_text(file.read_text().replace("target=5", "limit=1000"))
    with pytest.raises(BadInputError, match="write buffer_packets"):
        load_path(file)
