"""Plans: they arrive in the guest as they were."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farpath.mechanisms.era.mechanism import era_by_text
from farpath.planning.path_files import path_by_name
from farpath.planning.path_options import resolve_path
from farpath.planning.planner import make_plan
from farpath.programs.catalog import catalogue
from farpath.record.identity import _canonical
from farpath.spec.host_image import HostImage
from farpath.spec.plan import Plan
from farpath.spec.schedule import seven_regions
from farpath.spec.settings import Settings
from tests.support.plans import network_plan
from tests.support.refusals import refused

IMAGES = {"receiver": HostImage("mine", "sha256:00", "0" * 16, ("A=b=c",), "/srv")}


@given(
    stack=st.sampled_from(sorted(catalogue())),
    region_s=st.integers(5, 10_800),
    rtt_ms=st.floats(0.01, 1_499),  # UDT connects over no longer one
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
    with refused("memory", "33554432 bytes"):
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


def test_a_plan_with_all_of_it_comes_back_equal_from_its_json() -> None:
    for words in (
        {"senders": "rtt=172ms mtu=1400", "reverse": "reno", "ip": "6"},
        {"topology": "parking-lot:2"},
    ):
        plan = network_plan(**words)
        assert Plan.from_dict(json.loads(plan.to_json())) == plan


def test_a_plan_of_before_there_was_any_of_it_reads_and_is_the_same_run() -> None:
    plan = network_plan()
    data = json.loads(plan.to_json())
    for name in ("senders", "ip_version", "bottlenecks"):
        del data[name]
    del data["schedule"]["reverse"]
    assert Plan.from_dict(data) == plan
    text = json.dumps(_canonical(plan))
    assert not any(name in text for name in ("senders", "ip_version", "bottlenecks", "reverse"))
