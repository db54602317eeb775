"""Sysctls of end hosts: which are taken, and why others are not."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.base.errors import BadInputError
from farpath.planning import path_options
from farpath.planning.end_host_sysctls import check_setting, why_without_effect
from farpath.planning.path_files import load_path, named_paths
from farpath.planning.request import RunRequest


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "give sysctls of the network"),
        ("net/../../etc=1", "give sysctls of the network"),
        ("net...etc=1", "give sysctls of the network"),
        ("kernel.panic=1", "give sysctls of the network"),
        ("net.ipv4.tcp_sack=0\nnet.x=1", "give sysctls of the network"),
        ("net.ipv4.tcp_sack=0,net.ipv4.tcp_sack=1", "net.ipv4.tcp_sack is there twice"),
        ("net.ipv4.tcp_rmem=4096 1 2", "the lab sets net.ipv4.tcp_rmem itself.*window"),
        ("net.ipv4.tcp_moderate_rcvbuf=1", "the lab sets .* itself"),
        ("net.core.rmem_max=abc", "rmem_max=abc': it must be a whole number"),
        ("net.core.rmem_max=0x10", "rmem_max=0x10': it must be a whole number"),
        ("net.ipv4.tcp_wmem=1", "tcp_wmem=1': it must be 3 whole numbers"),
        ("net.core.rmem_max=1000", "more than path custom's own sysctl"),
    ],
)
def test_settings_that_cannot_be_or_contradict_the_lab_are_refused(
    text: str, complaint: str
) -> None:
    with pytest.raises(BadInputError, match=complaint):
        path_options.resolve_path(rtt="50ms", sysctl=text)


def test_a_setting_that_the_hosts_era_needs_otherwise_is_refused() -> None:
    request = RunRequest(rtt="50ms", era="2004", sysctl="net.ipv4.tcp_sack=0")
    with pytest.raises(BadInputError, match="tcp_sack is 0 on path custom, and era 2004 needs 1"):
        request.plan()
    request.changed(era="modern").plan()
    dataclasses.replace(request, sysctl="net.ipv4.tcp_sack=1").plan()


@pytest.mark.parametrize(
    "name",
    ["net.core.default_qdisc", "net.core.netdev_budget", "net.core.dev_weight",
     "net.ipv4.tcp_congestion_control", "net.ipv4.tcp_fack", "net.ipv4.inet_peer_maxttl",
     "net.ipv6.conf.default.mtu", "net.unix.max_dgram_qlen", "net.ipv4.tcp_rmem"],
)  # fmt: skip
def test_a_setting_without_effect_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(BadInputError, match=f"sysctl: .*{name} .*; leave it out"):
        check_setting(name)


@pytest.mark.parametrize(
    "name", ["net.ipv4.tcp_sack", "net.ipv4.tcp_mem", "net.core.wmem_max", "net.ipv4.tcp_ecn"]
)
def test_a_setting_of_end_hosts_is_taken(name: str) -> None:
    assert why_without_effect(name) == ""


def test_a_setting_of_ipv6_is_taken_in_a_run_over_ipv6() -> None:
    options = {"rtt": "20ms", "stack": "cubic", "sysctl": "net.ipv6.auto_flowlabels=0"}
    assert RunRequest(ip="6", **options).plan().path.sysctl["net.ipv6.auto_flowlabels"] == "0"
    with pytest.raises(BadInputError, match="the run uses IPv4"):
        RunRequest(**options).plan()


def test_no_named_path_makes_a_setting_without_effect() -> None:
    for file in named_paths().values():
        load_path(file)
