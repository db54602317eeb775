"""The plan of a lab for programs, and the options that only it has."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.programs import (
    DEFAULT_MEMORY_BYTES,
    parse_command,
    parse_date_s,
    program_plan,
)
from farpath.planning.request import RunRequest
from farpath.record.identity import plan_identity
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import NetemDelay, TbfBottleneck
from topologies import lay_out


def plan_of(**options: str) -> Plan:
    return program_plan(RunRequest(**{"stack": "cubic", "rtt": "100ms", **options}))


def test_both_directions_have_the_rate_and_the_loss_with_losses_of_their_own() -> None:
    plan = plan_of(rate="10Mbit", loss="1e-3", jitter="1ms")
    ports = lay_out(plan).ports
    rates = [port.queue for port in ports if isinstance(port.queue, TbfBottleneck)]
    delays = [port.queue for port in ports if isinstance(port.queue, NetemDelay)]
    assert [queue.rate_bps for queue in rates] == [10_000_000] * 2
    assert rates[0] == rates[1]
    there, back = delays
    assert there.seed != back.seed
    assert dataclasses.replace(there, seed=back.seed) == back
    assert (there.loss, there.delay_ns) == (1e-3, 50_000_000)


def test_a_queue_is_at_both_bottlenecks_and_limited_by_the_buffer() -> None:
    plan = plan_of(rate="10Mbit", buffer="60packets", queue="fq_codel:target=2ms", ecn="on")
    queues = [port.queue for port in lay_out(plan).ports if isinstance(port.queue, TbfBottleneck)]
    assert [(str(queue.aqm), queue.aqm_limit) for queue in queues] == [
        ("fq_codel:target=2ms", 60)
    ] * 2
    assert plan.ecn == "on"


def test_the_lab_is_one_guest_and_has_memory_for_programs() -> None:
    plan = plan_of()
    assert lay_out(plan).sites == 1
    more = program_plan(RunRequest(stack="cubic", rtt="100ms"), program_bytes=3 << 30)
    added = more.settings.memory_bytes - plan.settings.memory_bytes
    assert added == (3 << 30) - DEFAULT_MEMORY_BYTES


def test_an_rtt_alone_is_a_path_of_its_own_and_hosts_have_the_usual_buffers() -> None:
    plan = plan_of(rtt="164ms", rate="100Mbit", sysctl="net.ipv4.tcp_sack=0")
    assert (plan.path.name, plan.path.background) == ("custom", None)
    assert plan.path.buffer_bytes == 100e6 * 0.164 / 8
    assert plan.path.sysctl["net.ipv4.tcp_rmem"].split()[2] == str(6 << 20)
    assert plan.path.sysctl["net.ipv4.tcp_sack"] == "0"


def test_a_window_or_a_named_path_brings_its_sysctls() -> None:
    named = program_plan(RunRequest(stack="bbr", path="cern"))
    assert named.path.background is None
    assert int(named.path.sysctl["net.ipv4.tcp_rmem"].split()[2]) >= 33_554_432
    given = plan_of(window="64MiB")
    assert int(given.path.sysctl["net.ipv4.tcp_rmem"].split()[2]) >= 64 << 20


def test_a_plan_of_programs_is_another_one_and_survives_json() -> None:
    plan = plan_of()
    assert Plan.from_dict(plan.as_dict()) == plan
    assert plan_identity(plan) != plan_identity(dataclasses.replace(plan, programs=False))


@pytest.mark.parametrize("stack", ["udt4", "cubic+reno", "udp:size=1000,spacing=12000"])
def test_a_stack_that_is_no_single_congestion_control_is_refused(stack: str) -> None:
    with pytest.raises(BadInputError, match="one congestion control"):
        plan_of(stack=stack)


def test_a_command_is_split_as_by_a_shell_without_running_one() -> None:
    assert parse_command("a 'b c' $HOME ;", "--server") == ("a", "b c", "$HOME", ";")


@pytest.mark.parametrize("text", ["", "  ", "'open"])
def test_a_command_without_words_or_with_an_open_quote_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="--server"):
        parse_command(text, "--server")


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "1969-01-01", "3000-01-01"])
def test_a_date_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="--date"):
        parse_date_s(text)
