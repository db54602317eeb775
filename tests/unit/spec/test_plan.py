"""Plans and events: what host and guest tell each other arrives as it was."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farpath.base.errors import BadInputError
from farpath.planning.era_catalog import era_by_text
from farpath.planning.path_files import path_by_name
from farpath.planning.path_options import resolve_path
from farpath.planning.planner import make_plan
from farpath.planning.stack_catalog import catalogue
from farpath.spec.host_image import HostImage
from farpath.spec.plan import Plan
from farpath.spec.protocol import EVENT_MARK, event_line, parse_event
from farpath.spec.schedule import seven_regions
from farpath.spec.settings import Settings

IMAGES = {"receiver": HostImage("mine", "sha256:00", "0" * 16, ("A=b=c",), "/srv")}

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(
    stack=st.sampled_from(sorted(catalogue())),
    region_s=st.integers(5, 10_800),
    rtt_ms=st.floats(0.01, 10_000),
    seed=st.integers(1, 2**31 - 1),
    clock=st.sampled_from(["virtual", "cpu", "wall"]),
)
@settings(deadline=None)  # the first example reads files and loads libraries
def test_a_plan_comes_back_equal_from_its_json(
    stack: str, region_s: int, rtt_ms: float, seed: int, clock: str
) -> None:
    path = resolve_path(rtt=f"{rtt_ms!r}ms")
    plan = make_plan(path, seven_regions(stack, region_s), seed, clock)
    assert Plan.from_dict(json.loads(plan.to_json())) == plan
    assert Plan.from_dict(plan.as_dict()) == plan


def test_a_plan_with_users_images_comes_back_equal_from_its_json() -> None:
    plan = Plan(path_by_name("cern"), seven_regions("htcp", 120.0), Settings(), 1, images=IMAGES)
    assert Plan.from_dict(json.loads(plan.to_json())) == plan


def test_a_plan_from_before_there_were_users_images_has_none() -> None:
    plan = make_plan(path_by_name("cern"), seven_regions("htcp", 120.0), 1, "virtual")
    data = plan.as_dict()
    del data["images"]
    assert Plan.from_dict(data) == plan


def test_a_plans_hosts_are_those_of_its_flows_and_the_pinger() -> None:
    plan = make_plan(path_by_name("cern"), seven_regions("htcp", 120.0), 1, "virtual")
    assert plan.hosts == ("sender", "receiver", "pinger")


def test_equal_plans_have_equal_text_whatever_the_order_of_their_settings() -> None:
    path = path_by_name("cern")
    backwards = dict(reversed(list(path.sysctl.items())))
    schedule = seven_regions("htcp", 120.0)
    one = Plan(path, schedule, Settings(), 1)
    other = Plan(dataclasses.replace(path, sysctl=backwards), schedule, Settings(), 1)
    assert one.to_json() == other.to_json()


def test_a_lab_of_too_little_memory_is_refused() -> None:
    with pytest.raises(BadInputError, match="memory_bytes is 33554432: a lab needs at least"):
        Settings(memory_bytes=32 << 20)


@pytest.mark.parametrize(
    "change",
    [{"seed": 2}, {"bottlenecks": 2, "topology": "parking-lot"},
     {"settings": Settings(clock="cpu")}, {"ip_version": 6},
     {"schedule": seven_regions("reno", 120.0)}, {"path": path_by_name("ufl")},
     {"era": era_by_text("2004")}, {"images": IMAGES}],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_plans_that_differ_have_other_text(change: dict[str, Any]) -> None:
    plan = Plan(path_by_name("cern"), seven_regions("htcp", 120.0), Settings(), 1)
    assert dataclasses.replace(plan, **change).to_json() != plan.to_json()


@given(
    kind=st.text(),
    told=st.dictionaries(st.text().filter(lambda name: name not in ("kind", "event")), values),
)
def test_an_event_comes_back_equal_from_its_line(kind: str, told: dict[str, Any]) -> None:
    line = event_line(kind, **told)
    assert len(line.split("\n")) == 1
    assert parse_event(line) == {"event": kind, **told}


def test_an_event_is_found_behind_what_the_kernel_printed_on_its_line() -> None:
    line = "[    1.5] openvswitch: " + event_line("done")
    assert parse_event(line) == {"event": "done"}


def test_every_cut_of_an_event_is_no_event() -> None:
    line = event_line("progress", t_s=12.0, note="äöü")
    assert [parse_event(line[:end]) for end in range(len(line))] == [None] * len(line)


@pytest.mark.parametrize(
    "line",
    ["", "reboot: Power down", "farpath {}", EVENT_MARK + "[1, 2]", EVENT_MARK + '"text"',
     EVENT_MARK + '{"t_s": 1.0}', EVENT_MARK + '{"event": "done"} trailing'],
)  # fmt: skip
def test_other_lines_are_no_events(line: str) -> None:
    assert parse_event(line) is None
