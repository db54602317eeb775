"""The source identity follows sources, and not which compiler made bytes of them."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.lab.artifacts import sources
from farpath.lab.artifacts.images import Images
from farpath.lab.artifacts.sources import host_build_identity, options, source_identity
from farpath.lab.host import HostImages
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.spec.dropper import Dropper
from farpath.spec.plan import Plan
from farpath.spec.schedule import seven_regions
from farpath.spec.settings import HOST
from tests.support.built_images import CONFIG, built_images, changed, write_module


@pytest.fixture
def plan() -> Plan:
    return make_plan(path_by_name("cern"), seven_regions("htcp_2004", 5.0), 1, "virtual")


@pytest.fixture
def images(tmp_path: FilePath) -> Images:
    """A lab's parts."""
    return built_images(tmp_path)


def test_another_compiler_makes_no_other_run(plan: Plan, images: Images) -> None:
    before = source_identity(plan, images)
    write_module(images.stacks, "int htcp;", "bytes of gcc 14")
    (images.kernel / "config").write_text(
        CONFIG.replace("12.2.0", "14.2.0").replace("CONFIG_CC_HAS_ASM_INLINE=y\n", "")
    )
    assert source_identity(plan, changed(images, "kernel", linux_hash="gcc 14")) == before


@pytest.mark.parametrize(
    ("part", "field"),
    [
        *(("kernel", "source_hash"), ("kernel", "cflags")),
        *(("lab", "own_hash"), ("sender", "own_hash")),
    ],
)
def test_other_sources_make_another_run(plan: Plan, images: Images, part: str, field: str) -> None:
    assert source_identity(plan, changed(images, part, **{field: "other"})) != source_identity(
        plan, images
    )


@pytest.mark.parametrize(("stack", "makes_another"), [("htcp_2004", False), ("udt", True)])
def test_another_udtperf_makes_another_run_of_udt_alone(
    images: Images, stack: str, makes_another: bool
) -> None:
    plan = make_plan(path_by_name("cern"), seven_regions(stack, 5.0), 1, "virtual")
    after = source_identity(plan, changed(images, "sender", udtperf_hash="other"))
    assert (after != source_identity(plan, images)) == makes_another


@pytest.mark.parametrize(("transfer_bytes", "makes_another"), [(0, False), (10**6, True)])
def test_another_library_of_transfers_makes_another_run_of_a_number_of_bytes_alone(
    plan: Plan, images: Images, transfer_bytes: int, makes_another: bool
) -> None:
    plan = dataclasses.replace(plan, transfer_bytes=transfer_bytes)
    after = source_identity(plan, changed(images, "sender", transfer_hash="other"))
    assert (after != source_identity(plan, images)) == makes_another


@pytest.mark.parametrize(
    ("part", "package", "makes_another"),
    [
        *(("lab", "openvswitch-switch", True), ("sender", "iperf3", True)),
        *(("lab", "perl-base", False), ("sender", "libpam0g", False), ("lab", "tcpdump", False)),
    ],
)
def test_only_a_package_that_decides_packets_makes_another_run(
    plan: Plan, images: Images, part: str, package: str, makes_another: bool
) -> None:
    updated = {**images.manifests[part]["packages"], package: "other"}
    after = source_identity(plan, changed(images, part, packages=updated))
    assert (after != source_identity(plan, images)) == makes_another


@pytest.mark.parametrize(
    ("stack", "droppers", "makes_another"),
    [
        ("htcp_2004", [], False),
        ("htcp_2004", [Dropper("random", (1e-4,))], False),
        ("bbr", [], True),
    ],
    ids=str,
)
def test_every_package_decides_packets_where_the_kernel_draws_random_numbers(
    images: Images, stack: str, droppers: list[Dropper], makes_another: bool
) -> None:
    plan = make_plan(path_by_name("cern"), seven_regions(stack, 5.0), 1, "virtual")
    plan = dataclasses.replace(plan, droppers=tuple(droppers))
    updated = {**images.manifests["lab"]["packages"], "perl-base": "other"}
    after = source_identity(plan, changed(images, "lab", packages=updated))
    assert (after != source_identity(plan, images)) == makes_another


@pytest.mark.parametrize(
    ("device", "other"),
    [
        *(("farlink.c", {"rtt_ms": 1.0}), ("background.c", {"background": None})),
    ],
)
def test_a_devices_source_counts_in_plans_that_need_the_device(
    plan: Plan,
    images: Images,
    tmp_path: FilePath,
    monkeypatch: pytest.MonkeyPatch,
    device: str,
    other: dict[str, Any],
) -> None:
    shutil.copytree(sources.DEVICES, tmp_path / "devices")
    monkeypatch.setattr(sources, "DEVICES", tmp_path / "devices")
    without = dataclasses.replace(plan, path=dataclasses.replace(plan.path, **other))
    before = [source_identity(each, images) for each in (plan, without)]
    (tmp_path / "devices" / device).write_text("int other;")
    edited = [source_identity(each, images) for each in (plan, without)]
    write_module(images.stacks, "int htcp;", "bytes of gcc 12")
    rebuilt = [source_identity(each, images) for each in (plan, without)]
    assert len({before[0], edited[0], rebuilt[0]}) == 3  # what was built is not what is there
    assert before[1] == edited[1] == rebuilt[1]


def test_the_module_of_user_time_counts_where_programs_run_alone(plan: Plan) -> None:
    assert "usertime" not in sources.used_devices(plan)
    assert "usertime" in sources.used_devices(dataclasses.replace(plan, programs=True))


def test_another_option_of_the_kernel_makes_another_run(plan: Plan, images: Images) -> None:
    before = source_identity(plan, images)
    (images.kernel / "config").write_text(CONFIG.replace("CONFIG_HZ=1000", "CONFIG_HZ=100"))
    assert source_identity(plan, images) != before


def test_another_source_of_a_module_makes_another_run(plan: Plan, images: Images) -> None:
    before = source_identity(plan, images)
    write_module(images.stacks, "int other;", "bytes of gcc 12")
    assert source_identity(plan, images) != before


def test_another_comment_in_a_module_makes_no_other_run(plan: Plan, images: Images) -> None:
    before = source_identity(plan, images)
    (images.stacks / "tcp_htcp_2004.c").write_text("// better words\nint htcp;\n")
    assert source_identity(plan, images) == before
    write_module(images.stacks, "/* a comment */ int htcp;", "bytes of gcc 12")
    assert source_identity(plan, images) == before
    write_module(images.stacks, 'char *htcp = "// a text";', "bytes of gcc 12")
    assert source_identity(plan, images) != before


def test_a_header_counts_as_source(plan: Plan, images: Images) -> None:
    before = source_identity(plan, images)
    (images.stacks / "hstcp.h").write_text("int table;")
    assert source_identity(plan, images) != before


def test_without_its_source_a_module_is_its_bytes(plan: Plan, images: Images) -> None:
    (images.stacks / "tcp_htcp_2004.c").unlink()
    before = source_identity(plan, images)
    write_module(images.stacks, "int htcp;", "bytes of gcc 14")
    (images.stacks / "tcp_htcp_2004.c").unlink()
    assert source_identity(plan, images) != before


def test_another_seed_or_setting_is_another_run(plan: Plan, images: Images) -> None:
    before = source_identity(plan, images)
    path = dataclasses.replace(plan.path, loss=1e-3)
    settings = dataclasses.replace(plan.settings, delayed_ack=False)
    for other in ({"seed": 2}, {"path": path}, {"settings": settings}):
        assert source_identity(dataclasses.replace(plan, **other), images) != before


def test_words_for_people_make_no_other_run(plan: Plan, images: Images) -> None:
    path = dataclasses.replace(plan.path, title="other words", sources={})
    changed_words = dataclasses.replace(plan, path=path)
    assert source_identity(changed_words, images) == source_identity(plan, images)


def test_options_that_describe_the_compiler_are_left_out() -> None:
    assert options(CONFIG) == "CONFIG_HZ=1000\n# CONFIG_SMP is not set"


@pytest.fixture
def on_host(
    tmp_path: FilePath, images: Images, monkeypatch: pytest.MonkeyPatch
) -> tuple[Plan, Images]:
    """A run of the host lab, and a module for its kernel with the source beside it."""
    (tmp_path / "sender" / "manifest.json").write_text('{"packages_hash": "e"}')
    monkeypatch.setattr(sources, "STACKS", tmp_path / "stacks")
    modules = tmp_path / "host-stacks"
    modules.mkdir()
    (modules / "tcp_htcp_2004.ko").write_text("bytes of gcc 14")
    (modules / "tcp_htcp_2004.c").write_text("int htcp;")
    asked = seven_regions("htcp_2004", 5.0)
    plan = make_plan(path_by_name("cern"), asked, 1, "wall", lab=HOST)
    parts = {field.name: getattr(images, field.name) for field in dataclasses.fields(images)}
    return plan, HostImages(**{**parts, "stacks": modules})


def test_a_run_of_the_host_lab_is_that_of_any_kernel(
    on_host: tuple[Plan, Images], tmp_path: FilePath
) -> None:
    plan, images = on_host
    wanted = host_build_identity(plan, tmp_path)
    assert source_identity(plan, images) == wanted
    assert source_identity(plan, changed(images, "kernel", linux_hash="another")) == wanted
    assert source_identity(plan, changed(images, "sender", packages_hash="other")) != wanted


@pytest.mark.parametrize("source", ["int other;", None])
def test_a_module_of_another_or_unknown_source_is_another_run_on_the_host_lab(
    on_host: tuple[Plan, Images], tmp_path: FilePath, source: str | None
) -> None:
    plan, images = on_host
    file = images.stacks / "tcp_htcp_2004.c"
    if source is None:
        file.unlink()
    else:
        file.write_text(source)
    assert source_identity(plan, images) != host_build_identity(plan, tmp_path)
