"""The host lab: what it is made of, and how its guest is bound to the run."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.lab import host, preflight
from farpath.lab.artifacts.user_stacks import user_stack
from farpath.lab.provenance import record_name
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.planning.request import RunRequest
from farpath.spec.plan import Plan
from farpath.spec.schedule import seven_regions
from farpath.spec.settings import HOST


def host_plan(stack: str = "htcp") -> Plan:
    return make_plan(path_by_name("cern"), seven_regions(stack, 5.0), 1, "wall", lab=HOST)


@pytest.fixture
def build(tmp_path: FilePath) -> FilePath:
    """A build directory with a sender's root and one module for the running kernel."""
    (tmp_path / "sender").mkdir()
    (tmp_path / "sender" / "manifest.json").write_text('{"packages_hash": "abc"}')
    modules = tmp_path / host.STACKS_DIR / os.uname().release
    modules.mkdir(parents=True)
    (modules / "tcp_htcp_2004.ko").write_bytes(b"module")
    return tmp_path


def test_a_record_of_the_host_lab_says_so_in_its_name(build: FilePath) -> None:
    plan = host_plan()
    name = record_name(plan, host.find_images(plan, build))
    assert name.startswith("cern-htcp-5s-modern-seed1-host-")


def test_a_record_of_the_virtual_lab_keeps_its_name(build: FilePath) -> None:
    plan = host_plan()
    images = host.find_images(plan, build)
    stacks = images.stacks / "manifest.json"
    stacks.write_text(json.dumps({"modules": {"bottleneck": {"source_hash": "dd"}}}))
    settings = dataclasses.replace(plan.settings, lab="virtual")
    path = dataclasses.replace(plan.path, background=None)  # whose kernel module is not here
    virtual = dataclasses.replace(plan, settings=settings, path=path)
    assert "-seed1-wall-" in record_name(virtual, images)


@pytest.mark.parametrize(
    ("options", "beginning"),
    [
        ({"rtt": "50ms", "rate": "100Mbit"}, "50ms-100Mbit-htcp-"),
        ({"rtt": "0.5ms", "loss": "1e-5", "ip": "6"}, "0.5ms-450Mbit-loss1e-05-ipv6-htcp-"),
        ({"path": "cern"}, "cern-htcp-"),
        ({"path": "mb-ng"}, "mb-ng-htcp-"),
        ({"path": "cern", "loss": "0.1%"}, "cern-changed-164ms-480Mbit-loss0.001-htcp-"),
    ],
)
def test_a_record_of_no_named_path_says_its_rtt_rate_and_loss(
    build: FilePath, options: dict[str, str], beginning: str
) -> None:
    plan = RunRequest(lab="host", **options).plan()
    assert record_name(plan, host.find_images(plan, build)).startswith(beginning)


def test_on_the_wall_clock_no_receiver_discards_its_payload() -> None:
    assert host_plan().settings.receiver_discards is False


def test_another_build_of_a_stacks_module_gives_records_another_place(build: FilePath) -> None:
    plan = host_plan("htcp_2004")
    before = record_name(plan, host.find_images(plan, build))
    host.find_images(plan, build).module_file(plan.stacks[0]).write_bytes(b"other")
    assert record_name(plan, host.find_images(plan, build)) != before


def test_a_stack_without_its_module_is_named(
    build: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "tool_checks", lambda *_tools: [])
    with pytest.raises(MachineLacksError, match="tcp_bic_2004"):
        host.find_images(host_plan("bic_2004"), build)


def test_the_kernel_is_told_with_what_decides_how_well_it_keeps_time(build: FilePath) -> None:
    kernel = host.find_images(host_plan(), build).manifests["kernel"]
    assert kernel["release"] == os.uname().release
    assert {"hz", "clock_source", "cpu_governors", "config_hash", "version"} <= set(kernel)
    assert json.loads(json.dumps(kernel)) == kernel


def test_the_guest_dies_with_its_parent_and_everything_in_it_with_the_guest() -> None:
    command = host.guest_command(FilePath("/tmp/share"))
    assert command[:3] == ["setpriv", "--pdeathsig", "KILL"]
    assert {"--pid", "--mount", "--fork", "--kill-child"} <= set(command)


def test_a_module_of_ones_own_needs_the_running_kernels_headers(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "tcp_mine.c"
    source.write_text("")
    release = "0.0-none"
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Linux", "x", release, "#1", "x")))
    with pytest.raises(MachineLacksError, match=rf"linux-headers-{release}"):
        user_stack(str(source), tmp_path, kernel=host.kernel_to_build_for)


def test_a_module_of_ones_own_is_looked_at_before_the_kernel(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="no file"):
        user_stack(str(tmp_path / "tcp_none.c"), tmp_path, kernel=host.kernel_to_build_for)
