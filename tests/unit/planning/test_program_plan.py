"""The plan of a lab for programs, and the options that only it has."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex

import pytest

from farpath.base.errors import BadInputError
from farpath.base.options import options_of
from farpath.mechanisms.registry import mechanisms
from farpath.planning.option_names import as_option, typed_message
from farpath.planning.program_plan import (
    DEFAULT_MEMORY_BYTES,
    OPTIONS,
    parse_command,
    parse_date_s,
    parse_ip_version,
    parse_wait_for,
    program_plan,
    with_reason,
)
from farpath.planning.request import RunRequest
from farpath.record.identity import plan_identity
from farpath.spec.capture_sizes import most_bytes
from farpath.spec.plan import Plan
from farpath.spec.program_captures import ROOM_BYTES, with_room
from farpath.spec.programs import Place, Programs
from farpath.spec.qdiscs import Bottleneck, NetemDelay, changes_of
from farpath.spec.wire import from_wire
from tests.support.refusals import refused
from topologies import lay_out


def plan_of(**options: str) -> Plan:
    return program_plan(RunRequest(**{"stack": "cubic", "rtt": "100ms", **options}))


def test_both_directions_have_the_rate_and_the_loss_with_losses_of_their_own() -> None:
    plan = plan_of(rate="10Mbit", loss="1e-3", jitter="1ms")
    ports = lay_out(plan).ports
    rates = [port.queue for port in ports if isinstance(port.queue, Bottleneck)]
    delays = [port.queue for port in ports if isinstance(port.queue, NetemDelay)]
    assert [queue.rate_bps for queue in rates] == [10_000_000] * 2
    assert rates[0] == rates[1]
    there, back = delays
    assert there.seed != back.seed
    assert dataclasses.replace(there, seed=back.seed) == back
    assert (there.loss, there.delay_ns) == (1e-3, 50_000_000)


def test_a_queue_is_at_both_bottlenecks_and_limited_by_the_buffer() -> None:
    plan = plan_of(rate="10Mbit", buffer="60packets", queue="fq_codel:target=2ms", ecn="on")
    queues = [port.queue for port in lay_out(plan).ports if isinstance(port.queue, Bottleneck)]
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


def test_sysctls_of_ipv6_are_allowed_where_hosts_have_both_families_or_it_alone() -> None:
    name = "net.ipv6.conf.all.hop_limit"
    request = RunRequest(stack="cubic", rtt="100ms", sysctl=f"{name}=33")
    assert program_plan(request, both_families=True).path.sysctl[name] == "33"
    assert plan_of(sysctl=f"{name}=33", ip="6").path.sysctl[name] == "33"
    with pytest.raises(BadInputError, match=f"{name} has no effect: .*ip=6 uses IPv6"):
        program_plan(request)


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
    text = """a 'b c' '$HOME' ';' "&& x" http://x/?a=1&b=2 -x=y"""
    words = ("a", "b c", "$HOME", ";", "&& x", "http://x/?a=1&b=2", "-x=y")
    assert parse_command(text, "server") == words


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a && b", "&&"),
        ("a | b", "|"),
        ("a; b", ";"),
        ("a ; b", ";"),
        ("a > log", ">"),
        ("a 2>&1", "2>&1"),
        ("a <input", "<input"),
        ("a --port $PORT", "$PORT"),
        ("a $(id)", "$("),
        ("a &", "&"),
        ("NAME=value a", "NAME="),
    ],
)
def test_what_only_a_shell_does_is_answered_with_a_shell(text: str, word: str) -> None:
    with pytest.raises(BadInputError) as error:
        parse_command(text, "server")
    message = typed_message(error.value)
    assert f"{word} is a shell's; write --server=" in message
    (inside,) = shlex.split(message.partition("write --server=")[2])
    assert shlex.split(inside) == ["sh", "-c", text]


@pytest.mark.parametrize("text", ["5432", "udp:53", "tcp:0", "tcp:65536", "tcp:", "tcp:http"])
def test_only_ports_of_tcp_are_waited_for(text: str) -> None:
    with refused("wait_for", text):
        parse_wait_for([text])


def test_another_ip_version_than_4_6_or_both_is_refused() -> None:
    with refused("ip", "5"):
        parse_ip_version("5")


def test_programs_survive_json_and_those_of_older_records_are_read() -> None:
    place = Place("machine", ("A=b",), "/")
    programs = Programs(
        *(("true",), (("sleep", "1"),), {"sender": place}, 0, 0, 1.0),
        groups=(4,),
        limits={"nofile": (5, -1)},
        wait_for=(80,),
        both_families=True,
    )
    data = json.loads(json.dumps(dataclasses.asdict(programs)))
    assert from_wire(Programs, data) == programs
    for name in ("groups", "limits", "wait_for", "both_families", "input", "memory_bytes"):
        del data[name]
    assert from_wire(Programs, data).limits == {}


@pytest.mark.parametrize("text", ["", "  ", "'open"])
def test_a_command_without_words_or_with_an_open_quote_is_refused(text: str) -> None:
    with refused("server", text):
        parse_command(text, "server")


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "1969-01-01", "3000-01-01"])
def test_a_date_that_is_none_is_refused(text: str) -> None:
    with refused("date", text):
        parse_date_s(text)


#: A wrong value of each option, or one that programs cannot have.
WRONG = (
    ("rtt", "x"), ("rtt", "50ms,700s:80ms"), ("rtt", "50ms,3s:80ms,repeat:3s"), ("rate", "1bit"),
    ("rate", "100Mbit,601s:20Mbit"), ("rate", "trace:x"), ("buffer", "x"),
    ("queue", "fq_codel:x=1"), ("loss", "2"), ("jitter", "60ms"), ("reorder", "2"),
    ("duplicate", "x"), ("mtu", "10"),
    ("window", "100GiB"), ("sysctl", "a=1"), ("ecn", "x"), ("stack", "udt4"), ("seed", "-1"),
    ("sample", "0.3s"), ("up_rate", "1bit"), ("up_buffer", "64kB"), ("path", "nowhere"),
    ("drop", "every:2,flow=flow1"), ("drop", "at:700s"), ("drop", "burst:1e-1,0.3"),
    ("capture", "flow1"), ("background", "99%"),
    ("background", "tcp:10%,size=2kB"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "text"), WRONG)
def test_a_refusal_names_only_options_that_programs_have(name: str, text: str) -> None:
    request = RunRequest(stack="cubic", rtt=None if name == "path" else "100ms")
    with pytest.raises(BadInputError) as error:
        program_plan(dataclasses.replace(request, **{name: text}))
    named = set(re.findall(r"--[a-z][\w-]*", error.value.spelled(as_option)))
    offered = {option.flag for option in options_of(RunRequest) if option.name in OPTIONS}
    assert named <= offered | {"--timeout"}


def test_a_change_counts_from_the_clients_start_and_comes_before_its_time_limit() -> None:
    request = RunRequest(stack="cubic", rtt="50ms,2s:80ms", rate="100Mbit,5s:20Mbit,8s:100Mbit")
    plan = program_plan(request, timeout_s=9.0)
    assert plan.schedule.duration_s == 9
    changing = {
        port.name: [at_s for at_s, _ in changes]
        for port in lay_out(plan).ports
        if (changes := changes_of(port.queue))
    }
    assert sorted(changing.values()) == [[2.0], [2.0], [5.0, 8.0], [5.0, 8.0]]
    with pytest.raises(BadInputError) as error:
        program_plan(request, timeout_s=8.0)
    assert typed_message(error.value) == (
        "--rate: it has a change at 8 s, but the client ends after 8 s; give an earlier time, or a "
        "longer --timeout"
    )


def test_a_lab_without_a_time_limit_refuses_changes() -> None:
    with pytest.raises(BadInputError, match="nothing begins here"):
        program_plan(RunRequest(stack="cubic", rtt="50ms,2s:80ms"), timeout_s=None)
    with pytest.raises(BadInputError, match="path lte changes"):
        program_plan(RunRequest(stack="cubic", path="lte"), timeout_s=None)


def test_a_time_limit_changes_no_plan_in_which_nothing_is_done_by_time() -> None:
    request = RunRequest(stack="cubic", rtt="50ms", up_rate="1Mbit")
    assert program_plan(request, timeout_s=9.0) == program_plan(request, timeout_s=None)


def test_the_way_to_the_client_has_the_rate_of_its_own() -> None:
    ports = lay_out(plan_of(rate="10Mbit", up_rate="1Mbit")).ports
    rates = [port.queue.rate_bps for port in ports if isinstance(port.queue, Bottleneck)]
    assert sorted(rates) == [1_000_000, 10_000_000]


def test_captures_have_a_bounded_room_however_long_the_client_may_run() -> None:
    request = RunRequest(stack="cubic", rtt="20ms", rate="1Gbit", capture="sender,receiver")
    plans = {timeout_s: program_plan(request, timeout_s=timeout_s) for timeout_s in (1.0, 86_400.0)}
    sizes = {
        timeout_s: sum(most_bytes(with_room(plan), one) for one in plan.captures)
        for timeout_s, plan in plans.items()
    }
    assert sizes[1.0] < sizes[86_400.0] <= ROOM_BYTES


def test_background_traffic_of_a_named_path_is_left_out_unless_it_is_asked_for() -> None:
    assert program_plan(RunRequest(stack="cubic", path="cern", background="10%")).path.background


def test_every_option_of_a_run_is_one_of_programs_or_is_refused_with_a_reason() -> None:
    for option in options_of(RunRequest):
        message = with_reason(f"No such option: {option.flag}")
        assert message.startswith(f"`{option.name}` is for flows")
    for mechanism in mechanisms():
        assert mechanism.of_programs != bool(mechanism.of_flows)
