"""What a run is warned of before it begins, and in its record."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.end_host_sysctls import check_setting, why_without_effect
from farpath.planning.path_files import load_path, named_paths
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


@pytest.mark.parametrize(
    "name",
    ["net.core.default_qdisc", "net.core.netdev_budget", "net.core.dev_weight",
     "net.ipv4.tcp_congestion_control", "net.ipv4.tcp_fack", "net.ipv4.inet_peer_maxttl",
     "net.ipv6.conf.default.mtu", "net.unix.max_dgram_qlen", "net.ipv4.tcp_rmem"],
)  # fmt: skip
def test_a_setting_without_effect_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(BadInputError, match=f"SYSCTL has {name}, which .*: .*leave it out"):
        check_setting(name)


@pytest.mark.parametrize(
    "name", ["net.ipv4.tcp_sack", "net.ipv4.tcp_mem", "net.core.wmem_max", "net.ipv4.tcp_ecn"]
)
def test_a_setting_of_end_hosts_is_taken(name: str) -> None:
    assert why_without_effect(name) == ""


def test_a_setting_of_ipv6_is_taken_in_a_run_over_ipv6() -> None:
    asked = {"rtt": "20ms", "stack": "cubic", "sysctl": "net.ipv6.auto_flowlabels=0"}
    assert RunRequest(ip="6", **asked).plan().path.sysctl["net.ipv6.auto_flowlabels"] == "0"
    with pytest.raises(BadInputError, match="the run is over IPv4"):
        RunRequest(**asked).plan()


def test_no_named_path_makes_a_setting_without_effect() -> None:
    for file in named_paths().values():
        load_path(file)
