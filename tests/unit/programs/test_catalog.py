"""Stacks: the catalogue agrees with the kernels, and texts mean what they say."""

from __future__ import annotations

import dataclasses
import re

import pytest

from experiments.seven_regions.published import all_published
from farpath.base.errors import BadInputError
from farpath.base.project import PROJECT
from farpath.mechanisms.era.mechanism import era_by_text
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.programs.catalog import (
    catalogue,
    check_together,
    era_of,
    fitted,
    resolve_stack,
    split_text,
)
from farpath.programs.iperf3.program import MAINLINE, OURS
from farpath.programs.registry import program_of, programs
from farpath.spec.schedule import Flow, Schedule
from farpath.spec.stack import UDTPERF

LAB_CONFIG = PROJECT / "images" / "kernel" / "lab.config"
MODULES = PROJECT / "images" / "kernel" / "stacks"
OF_MAINLINE = [name for name, entry in catalogue().items() if entry.kind == MAINLINE]
OF_OURS = [
    name for name, entry in catalogue().items() if entry.kind == OURS and not entry.variant_of
]
VARIANTS = [name for name, entry in catalogue().items() if entry.variant_of]


@pytest.mark.parametrize("name", catalogue())
def test_a_stack_is_found_by_its_name_and_says_what_it_is(name: str) -> None:
    entry = catalogue()[name]
    stack = resolve_stack(name)
    assert stack.label == stack.name == name
    assert re.fullmatch(r"[a-z0-9_]{2,15}", name)  # TCP_CA_NAME_MAX of the kernel is 16
    assert entry.kind in programs()[entry.program].kinds
    assert 1980 <= entry.year <= 2030
    assert entry.title
    assert "; " in entry.source


@pytest.mark.parametrize("name", sorted(set(OF_MAINLINE) - {"reno"}))
def test_the_labs_kernel_is_configured_with_every_stack_of_mainline(name: str) -> None:
    match = re.search(r"net/ipv4/tcp_(\w+)\.c$", catalogue()[name].source)
    option = {"highspeed": "HSTCP"}.get(name, name.upper())
    assert match is not None
    assert match[1] == name
    assert f"CONFIG_TCP_CONG_{option}=y" in LAB_CONFIG.read_text().splitlines()


def test_the_catalogue_and_the_modules_sources_list_the_same_stacks() -> None:
    sources = {file.stem.removeprefix("tcp_") for file in MODULES.glob("tcp_*.c")}
    assert sources == set(OF_OURS)


@pytest.mark.parametrize("name", OF_OURS)
def test_a_modules_source_has_the_parameters_of_the_catalogue(name: str) -> None:
    source = (MODULES / f"tcp_{name}.c").read_text()
    declared = re.findall(r"^module_param(?:_named)?\((\w+),[^;]*0444\);", source, re.MULTILINE)
    assert sorted(declared) == sorted(catalogue()[name].parameters)
    assert re.search(rf'\.name\s*= "{name}"', source)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_another_stack_with_other_parameters_under_a_name_of_its_own(
    name: str,
) -> None:
    variant, usual = resolve_stack(name), resolve_stack(catalogue()[name].variant_of)
    assert (variant.congestion, variant.module) == (usual.congestion, usual.module)
    assert variant.label == name
    assert variant.parameters == catalogue()[name].preset
    assert resolve_stack(catalogue()[name].variant_of).parameters == {}
    defaults = {key: value.default for key, value in catalogue()[usual.name].parameters.items()}
    assert all(defaults[key] != value for key, value in variant.parameters.items())
    with pytest.raises(BadInputError, match="are one kernel module"):
        check_together([variant, usual])


@pytest.mark.parametrize("name", [*OF_OURS, *VARIANTS])
def test_each_stack_of_ours_recovers_as_the_era_says(name: str) -> None:
    stack = resolve_stack(name, "2004")
    assert program_of(stack).recovering(stack, era_by_text("2004")) == stack
    as_then = program_of(stack).recovering(stack, era_by_text("2004:recovery=2.4"))
    assert (as_then.label, as_then.parameters) == (name, {**stack.parameters, "recovery": "1"})


def test_a_stack_that_recovers_as_the_kernel_does_is_refused_where_it_must_not() -> None:
    era = era_by_text("2004:recovery=2.4")
    with pytest.raises(
        BadInputError, match=r"recovery=2\.4, and cubic recovers as the kernel does"
    ):
        program_of(resolve_stack("cubic")).recovering(resolve_stack("cubic"), era)
    mine = dataclasses.replace(resolve_stack("htcp_2004"), build="mine")
    with pytest.raises(BadInputError, match="leave recovery out"):
        program_of(mine).recovering(mine, era)
    udt = resolve_stack("udt")
    assert program_of(udt).recovering(udt, era) == udt


def test_a_parameter_that_is_given_counts_more_than_that_of_the_variant() -> None:
    stack = resolve_stack("fast_constant:alpha=50,gamma_percent=40")
    assert stack.label == "fast_constant:alpha=50,gamma_percent=40"
    assert stack.parameters == {
        "alpha": "50", "gamma_percent": "40", "mi_once": "0", "period_rtts": "1"
    }  # fmt: skip


@pytest.mark.parametrize("name", catalogue())
def test_every_default_is_allowed_and_every_meaning_is_said(name: str) -> None:
    for parameter in catalogue()[name].parameters.values():
        assert parameter.checked(name, parameter.default) == parameter.default
        assert parameter.meaning


def test_every_stack_of_the_paper_is_offered_as_of_2004_under_the_names_it_has() -> None:
    of_2004 = {entry.published for entry in catalogue().values() if entry.era == "2004"}
    assert of_2004 - {""} == set(all_published())
    for name in ("reno", "hstcp", "htcp", "scalable", "fast", "ltcp", "hstcp-lp", "bic", "udt"):
        assert catalogue()[resolve_stack(name, "2004").name].era == "2004"


def test_the_era_2004_runs_the_form_of_2004_and_today_the_mainline_one() -> None:
    assert resolve_stack("hstcp").congestion == "highspeed"
    assert resolve_stack("hstcp", "modern").module == ""
    assert resolve_stack("hstcp", "2004").module == "tcp_hstcp_2004"
    assert resolve_stack("cubic", "2004").congestion == "cubic"


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("htpc", "htcp"), ("CUBICS", "cubic"), ("bbr2", "bbr"), ("newreno", "reno")],
)
def test_an_unknown_stack_is_refused_with_a_suggestion_and_the_list(wrong: str, meant: str) -> None:
    with pytest.raises(BadInputError) as caught:
        resolve_stack(wrong)
    message = caught.value.message
    assert f"stack is '{wrong}': there is no such stack (did you mean {meant}?)" in message
    assert f"one of the {len(catalogue())} that 'farpath stacks' lists" in message
    assert len(message) < 300


@pytest.mark.parametrize(("text", "name"), [("BBR", "bbr"), ("Cubic", "cubic"), ("HTCP", "htcp")])
def test_a_stack_is_meant_in_capital_letters_too(text: str, name: str) -> None:
    assert resolve_stack(text) == resolve_stack(name)


def test_stacks_apart_by_commas_are_answered_with_what_to_write() -> None:
    with pytest.raises(BadInputError, match=r"by a plus: write cubic\+2xreno"):
        resolve_stack("cubic, 2xreno")


@pytest.mark.parametrize("wrong", ["", "quic", "../htcp", "ht cp"])
def test_what_is_like_no_stack_is_refused_with_the_list(wrong: str) -> None:
    with pytest.raises(
        BadInputError,
        match=r"one of the \d+ that 'farpath stacks' lists",
    ):
        resolve_stack(wrong)


def test_parameters_are_ordered_and_in_their_shortest_form() -> None:
    stack = resolve_stack("bic:max_increment=032,beta=896")
    assert stack.label == "bic:beta=896,max_increment=32"
    assert stack.parameters == {"beta": "896", "max_increment": "32"}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("udp:rate=30Mbit", "udp:rate=30000000"),
        ("udp:rate=1.5Gbit/s,spacing=2us", "udp:rate=1500000000,spacing=2000"),
        ("udt:rcvbuf=12MB", "udt:rcvbuf=12000000"),
    ],
)
def test_a_value_with_a_unit_is_the_same_parameter_as_its_number(text: str, label: str) -> None:
    assert resolve_stack(text) == resolve_stack(label)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("udp:rate=30Mbut", r"rate of udp is '30Mbut'; it must be 1000 to"),
        ("udp:rate=1bit", r"rate of udp is '1bit'; it must be 1000 to"),
        ("udp:spacing=1.5ns", r"spacing of udp is '1.5ns'"),
        ("bic:bta=1", r"no parameter 'bta' \(did you mean beta\?\)"),
        ("reno:alpha=1", r"it has none"),
        ("bic:beta=1024", r"must be 512 to 1023 in 1/1024; the default is 819"),
        ("bic:beta=-5", r"must be 512 to 1023"),
        ("bic:beta=fast", r"beta of bic is 'fast'"),
        ("bic:beta=٨١٩", r"beta of bic is"),
        ("bic:", r"a word is missing at a comma"),
        ("bic:beta", r"beta needs a value"),
        ("bic:beta=600,beta=700", r"beta is given twice"),
    ],
)
def test_a_wrong_parameter_is_refused_with_what_is_allowed(wrong: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        resolve_stack(wrong)


def test_a_text_without_parameters_is_a_name() -> None:
    assert split_text("reno") == ("reno", {})


def test_one_module_with_two_sets_of_parameters_is_refused() -> None:
    with pytest.raises(BadInputError, match="one set of parameters"):
        check_together([resolve_stack("bic:beta=600"), resolve_stack("bic:beta=700")])


def test_stacks_of_2004_have_hosts_of_2004_unless_one_of_today_is_among_them() -> None:
    old, new = resolve_stack("reno_2004"), resolve_stack("cubic")
    assert era_of([old]) == "2004"
    assert era_of([new]) == era_of([old, new]) == "modern"


def test_a_plans_flows_carry_labels_and_its_stacks_are_in_it_once() -> None:
    flows = tuple(
        Flow(f"flow{n}", "sender", "receiver", "bic:max_increment=8,beta=900", 0.0, 5.0, 5200 + n)
        for n in range(3)
    )
    plan = make_plan(path_by_name("cern"), Schedule("together", flows, 5.0, 5.0), 1, "virtual")
    assert [stack.label for stack in plan.stacks] == ["bic:beta=900,max_increment=8"]
    assert {plan.stack_of(flow).congestion for flow in plan.schedule.flows} == {"bic"}


def test_udt_at_a_constant_rate_needs_one() -> None:
    path = path_by_name("cern")
    with pytest.raises(BadInputError, match="udt:congestion=blast,max_rate=100000000"):
        fitted(resolve_stack("udt:congestion=blast"), path)
    stack = fitted(resolve_stack("udt:congestion=blast,max_rate=5000000"), path)
    assert stack.parameters["max_rate"] == "5000000"


def test_udt_names_its_congestion_controls_where_another_is_asked_for() -> None:
    with pytest.raises(BadInputError, match="it must be udtv2 or udt4 or reno or hstcp"):
        resolve_stack("udt:congestion=vegas")


def test_udts_buffers_stay_within_the_paths_limits_and_above_them_are_refused() -> None:
    path = dataclasses.replace(
        path_by_name("ufl"), sysctl={"net.core.rmem_max": "2000000"}, window_bytes=2_000_000
    )
    stack = fitted(resolve_stack("udt"), path)
    assert stack.program == UDTPERF
    assert stack.parameters["udp_rcvbuf"] == "2000000"
    assert stack.parameters["mss"] == "1500"
    assert stack.label == "udt"
    with pytest.raises(BadInputError, match=r"allows 2000000 \(net.core.rmem_max\)"):
        fitted(resolve_stack("udt:udp_rcvbuf=9000000"), path)
