"""QUIC: what a path decides of its stacks, and the runs that are refused."""

from __future__ import annotations

import pytest

from farpath.planning.request import RunRequest
from farpath.programs.quic.program import PATHS_IN_WINDOW
from farpath.programs.registry import program_of
from farpath.spec.plan import Plan
from farpath.spec.stack import QUIC
from tests.support.refusals import refused


def plan_of(stack: str, **options: str) -> Plan:
    """One second of flows on a short path."""
    words = {"rtt": "50ms", "rate": "50Mbit", "time": "5s", "stack": stack, **options}
    return RunRequest(**words).plan()


def test_packets_fill_the_paths_mtu_and_flow_control_holds_the_path() -> None:
    plan = plan_of("cubic+quic_ngtcp2:cc=bbr", mtu="9000")
    (stack,) = (one for one in plan.stacks if one.program == QUIC)
    assert (stack.label, stack.root) == ("quic_ngtcp2:cc=bbr", "quic_ngtcp2")
    assert stack.root_command == ("/usr/bin/quic_ngtcp2",)
    assert stack.parameters["mtu"] == "9000"
    assert stack.parameters["cc"] == "bbr"
    assert stack.parameters["window"] == "67108864"
    assert program_of(stack).kept_bytes(stack) == 16 << 20


def test_a_path_that_holds_more_gets_a_larger_window() -> None:
    plan = plan_of("quic_quinn", rtt="200ms", rate="1Gbit")
    held_bytes = 200e-3 * 1e9 / 8 + plan.path.buffer_bytes
    assert int(plan.stacks[0].parameters["window"]) == PATHS_IN_WINDOW * held_bytes
    assert plan_of("quic_quinn:window=100000").stacks[0].parameters["window"] == "100000"


def test_memory_has_room_for_the_qlogs() -> None:
    without = plan_of("quic_quinn:qlog=0").settings.memory_bytes
    assert plan_of("8xquic_quinn:qlog=256").settings.memory_bytes - without > 1 << 30


@pytest.mark.parametrize(
    ("stack", "options", "option"),
    [
        ("quic_ngtcp2:cc=foo", {}, "stack"),
        ("quic_quinn:cc=reno", {}, "stack"),
        ("quic_quinn:pacing=1", {}, "stack"),
        ("quic_ngtcp2:cc=bbr,pacing=0", {}, "stack"),
        ("quic_ngtcp2:mtu=2000", {}, "stack"),
        ("quic_ngtcp2", {"mtu": "1000"}, "stack"),
        ("quic_quinn", {"senders": "rtt=60ms,mtu=1400"}, "stack"),
        ("quic_quinn", {"era": "2004"}, "stack"),
        ("quic_quinn", {"lab": "host"}, "stack"),
        ("quic_quinn", {"bytes": "1MB"}, "bytes"),
    ],
)
def test_what_quic_cannot_do_is_one_clear_line(
    stack: str, options: dict[str, str], option: str
) -> None:
    if "senders" in options:
        stack = f"{stack}+{stack}"
    with refused(option):
        plan_of(stack, **options)
