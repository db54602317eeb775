"""QUIC: what a path decides of its stacks, and the runs that are refused."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.request import RunRequest
from farpath.programs.quic import PATHS_IN_WINDOW
from farpath.programs.registry import program_of
from farpath.spec.plan import Plan
from farpath.spec.stack import QUIC


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
    ("stack", "options", "said"),
    [
        ("quic_ngtcp2:cc=foo", {}, "it must be reno or cubic or bbr"),
        ("quic_quinn:cc=reno", {}, "it must be newreno or cubic or bbr"),
        ("quic_quinn:pacing=1", {}, "has no parameter 'pacing': it has cc, mtu, window, qlog"),
        ("quic_ngtcp2:cc=bbr,pacing=0", {}, "BBR sends at a rate: leave one of them out"),
        ("quic_ngtcp2:mtu=2000", {}, "allows 1500"),
        ("quic_ngtcp2", {"mtu": "1000"}, "needs an MTU of at least 1280 bytes"),
        ("quic_quinn", {"senders": "rtt=60ms,mtu=1400"}, "give quic_quinn:mtu=1400"),
        ("quic_quinn", {"era": "2004"}, "ERA is '2004': QUIC is of 2021"),
        ("quic_quinn", {"lab": "host"}, "use LAB=virtual"),
        ("quic_quinn", {"bytes": "1MB"}, "its program sends for a time"),
    ],
)
def test_what_quic_cannot_do_is_one_clear_line(
    stack: str, options: dict[str, str], said: str
) -> None:
    if "senders" in options:
        stack = f"{stack}+{stack}"
    with pytest.raises(BadInputError) as error:
        plan_of(stack, **options)
    assert said in error.value.message
    assert "\n" not in error.value.message
