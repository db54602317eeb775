"""What a run is warned of before it begins, and in its record."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.planning.plan_warnings import plan_warnings
from farpath.planning.request import RunRequest


def test_a_stack_that_needs_marks_is_warned_that_the_bottleneck_marks_nothing() -> None:
    plan = RunRequest(rtt="20ms", stack="dctcp+cubic", schedule="together").plan()
    (warning,) = plan_warnings(plan)
    assert warning.startswith(
        "dctcp reacts to packets marked by ECN, and the bottleneck marks none"
    )


def test_ecn_asked_for_by_a_sysctl_is_warned_of_too() -> None:
    plan = RunRequest(rtt="20ms", stack="cubic", sysctl="net.ipv4.tcp_ecn=1").plan()
    assert "end hosts react by net.ipv4.tcp_ecn" in plan_warnings(plan)[0]


@pytest.mark.parametrize("sysctl", [None, "net.ipv4.tcp_ecn=2", "net.ipv4.tcp_ecn=0"])
def test_other_runs_are_not_warned(sysctl: str | None) -> None:
    assert plan_warnings(RunRequest(rtt="20ms", stack="bbr", sysctl=sysctl).plan()) == ()


def test_tcp_beside_udp_on_one_host_is_warned_that_it_has_no_card_s_queue() -> None:
    mixed = RunRequest(rtt="20ms", stack="udt+reno_2004", schedule="together", era="2004")
    (warning,) = plan_warnings(mixed.plan())
    assert warning.startswith("reno_2004 at sender has no queue of txqueuelen and ring")
    assert warning.endswith("give TCP a host of its own, as in SENDERS=rtt=50ms")


@pytest.mark.parametrize(
    "change", [{"senders": "rtt=20ms"}, {"stack": "udt+udp:rate=1000000"}, {"era": "modern"}]
)
def test_hosts_that_lose_nothing_by_it_are_not_warned(change: dict[str, str]) -> None:
    mixed = RunRequest(rtt="20ms", stack="udt+reno_2004", schedule="together", era="2004")
    assert plan_warnings(dataclasses.replace(mixed, **change).plan()) == ()


def test_flows_that_join_a_queue_too_long_for_their_time_are_warned_of_it() -> None:
    slow = RunRequest(path="cern", rate="10Mbit", region="5s", buffer="3.2MB")
    (warning,) = plan_warnings(slow.plan())
    assert warning.startswith("flow4 may begin or end too late, and then the run fails")
    assert "a full BUFFER of 3.2 MB takes 2.6 s at 10 Mbit/s" in warning
    (warning,) = plan_warnings(dataclasses.replace(slow, buffer="8MB").plan())
    assert warning.startswith("flow3 and flow4 may")


@pytest.mark.parametrize(
    "change",
    [{"buffer": "3MB"}, {"region": "10s"}, {"schedule": "together"}, {"queue": "fq_codel"}],
)
def test_a_queue_that_no_flow_joins_or_that_is_short_is_not_warned_of(
    change: dict[str, str],
) -> None:
    slow = RunRequest(path="cern", rate="10Mbit", region="5s", buffer="3.2MB")
    assert plan_warnings(dataclasses.replace(slow, **change).plan()) == ()


def test_a_time_of_few_round_trips_is_warned_of_with_the_time_that_is_needed() -> None:
    short = RunRequest(rtt="600ms", time="5s").plan()
    (warning,) = plan_warnings(short)
    assert warning.startswith("flow1 may carry next to nothing: 5 s are 8.3 round trips of 600 ms")
    assert warning.endswith("give a TIME or REGION of 20 s or more")
    assert plan_warnings(short, has_flows=False) == ()
    assert plan_warnings(RunRequest(rtt="600ms", time="20s").plan()) == ()


@pytest.mark.parametrize(
    "options",
    [
        {"rtt": "164ms", "region": "5s"},
        {"rtt": "300ms", "time": "5s"},
        {"rtt": "0", "time": "5s"},
        {"rtt": "600ms", "time": "5s", "stack": "udp:rate=1000000"},
        {"rtt": "600ms", "time": "5s", "bytes": "100kB"},
    ],
    ids=str,
)
def test_an_ordinary_time_and_programs_without_slow_start_are_not_warned_of(
    options: dict[str, str],
) -> None:
    assert plan_warnings(RunRequest(**options).plan()) == ()


MIXED = RunRequest(rtt="40ms", rate="50Mbit", stack="dctcp+reno", time="20s")


@pytest.mark.parametrize(
    "queue", ["dualpi2:any_ect", "dualpi2", "codel:ecn", "red:ecn", "pie:ecn", "cake:flowblind"]
)
@pytest.mark.parametrize("ecn", [None, "on", "accecn", "passive"])
def test_a_classic_flow_that_is_marked_beside_a_scalable_one_is_warned_of(
    queue: str, ecn: str | None
) -> None:
    (warning,) = plan_warnings(MIXED.changed(queue=queue, ecn=ecn).plan())
    assert warning.startswith("reno sends packets of ECN (ECT(0)) as dctcp does")
    assert "QUEUE=dualpi2:any_ect, ECN=passive, and reno another host" in warning


@pytest.mark.parametrize(
    "change",
    [
        {"queue": "dualpi2:any_ect", "ecn": "passive", "senders": "rtt=40ms"},
        {"queue": "fq_codel"},
        {"queue": "fq_pie:ecn"},
        {"queue": "cake"},
        {"queue": "dualpi2:any_ect", "stack": "2xdctcp"},
        {"queue": "dualpi2:any_ect", "stack": "cubic+reno", "ecn": "on"},
    ],
)
def test_flows_that_share_by_their_queue_or_have_no_marks_are_not_warned_of(
    change: dict[str, str],
) -> None:
    assert plan_warnings(dataclasses.replace(MIXED, **change).plan()) == ()
