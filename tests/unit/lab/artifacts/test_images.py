"""Images: what was built, found, and judged before anything boots."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.lab.artifacts.images import Images, find_images
from farpath.lab.artifacts.kernels import title_of
from farpath.lab.provenance import provenance
from farpath.programs.catalog import resolve_stack
from farpath.spec.host_image import HostImage
from tests.support.networks import short_plan
from topologies import lay_out

KERNEL = {
    "linux_hash": "aa", "seedrandom_hash": "bb", "release": "7.2.0-mine", "source_hash": "ee",
    "cflags": "-O2",
}  # fmt: skip
CONFIG = "CONFIG_TCP_CONG_HTCP=y\nCONFIG_TCP_CONG_HSTCP=y\n# CONFIG_TCP_CONG_BIC is not set\n"


MODULES = ("tcp_fast", "farlink", "bottleneck")


@pytest.fixture
def build(tmp_path: FilePath) -> FilePath:
    """A build of everything, its kernel without BIC and with one module."""
    module = {"module_hash": "cc", "source_hash": "dd"}
    manifests = {
        "kernel": KERNEL,
        "lab": {"packages_hash": "1", "own_hash": "3", "packages": {}},
        "sender": {
            "packages_hash": "2",
            "own_hash": "4",
            "udtperf_hash": "5",
            "transfer_hash": "6",
            "packages": {},
        },
        "stacks": {"linux_hash": "aa", "modules": dict.fromkeys(MODULES, module)},
    }
    for name, manifest in manifests.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "kernel" / "config").write_text(CONFIG)
    return tmp_path


@pytest.fixture
def images(build: FilePath) -> Images:
    return find_images(build)


def test_a_kernel_has_reno_what_is_built_in_and_what_is_loaded(images: Images) -> None:
    names = ("reno", "htcp", "highspeed", "fast", "udt")
    images.check_stacks([resolve_stack(name) for name in names])


def test_a_stack_that_the_kernel_lacks_is_named_with_the_remedy(images: Images) -> None:
    with pytest.raises(MachineLacksError, match=r"7\.2\.0-mine has no bic .*make kernel"):
        images.check_stacks([resolve_stack("bic")])


def test_modules_for_another_kernel_are_refused(build: FilePath) -> None:
    manifest = {"linux_hash": "other", "modules": {}}
    (build / "stacks" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(MachineLacksError, match=r"another kernel.*make setup"):
        find_images(build)


def test_a_module_that_was_not_built_is_named(images: Images) -> None:
    with pytest.raises(MachineLacksError, match=r"no module 'tcp_ltcp' for ltcp.*make setup"):
        images.identity([resolve_stack("ltcp")])


def test_another_module_is_another_identity_for_the_runs_that_load_it(
    images: Images, build: FilePath
) -> None:
    before = {name: images.identity([resolve_stack(name)]) for name in ("htcp", "fast")}
    changed = {"module_hash": "ee", "source_hash": "ff"}
    manifest = {"linux_hash": "aa", "modules": {"tcp_fast": changed}}
    (build / "stacks" / "manifest.json").write_text(json.dumps(manifest))
    again = find_images(build)
    assert again.identity([resolve_stack("htcp")]) == before["htcp"]
    assert again.identity([resolve_stack("fast")]) != before["fast"]


def test_another_device_is_another_identity_for_the_runs_that_use_it(
    images: Images, build: FilePath
) -> None:
    identities = []
    for module_hash in ("ee", "ff"):
        device = {"module_hash": module_hash, "source_hash": "dd"}
        text = json.dumps({"linux_hash": "aa", "modules": {"farlink": device}})
        (build / "stacks" / "manifest.json").write_text(text)
        identities.append([images.identity([], devices=devices) for devices in ((), ("farlink",))])
    (none, used), (none_again, used_again) = identities
    assert none == none_again
    assert used != used_again
    with pytest.raises(MachineLacksError, match=r"no module 'processor'.*make setup"):
        images.identity([], devices=["processor"])


def test_another_kernel_is_another_identity_for_every_run(images: Images) -> None:
    kernel = {**images.manifests["kernel"], "linux_hash": "zz"}
    other = dataclasses.replace(images, manifests={**images.manifests, "kernel": kernel})
    stacks = [resolve_stack("reno")]
    assert other.identity(stacks) != images.identity(stacks)


def test_a_users_image_at_a_host_is_another_identity_and_has_a_manifest(
    images: Images, build: FilePath
) -> None:
    stacks = [resolve_stack("reno")]
    found = {}
    for name in ("one", "two"):
        (build / "own" / name).mkdir(parents=True)
        (build / "own" / name / "manifest.json").write_text(json.dumps({"digest": name}))
        found[name] = HostImage("mine", name, name)
    texts = [
        images.identity(stacks, hosts)
        for hosts in ({}, {"sender": found["one"]}, {"receiver": found["one"]},
                      {"sender": found["two"]})
    ]  # fmt: skip
    assert len(set(texts)) == 4
    assert images.identity(stacks) == texts[0]
    assert images.host_manifests({"sender": found["two"]}) == {"sender": {"digest": "two"}}


def test_a_users_image_that_is_gone_is_named(images: Images) -> None:
    with pytest.raises(MachineLacksError, match="image mine is not built"):
        images.identity([], {"sender": HostImage("mine", "sha256:00", "none")})


def with_kernel(images: Images, linux_hash: str) -> Images:
    """The same images with another kernel."""
    kernel = {**images.manifests["kernel"], "linux_hash": linux_hash, "release": "7.3.0-other"}
    return dataclasses.replace(images, manifests={**images.manifests, "kernel": kernel})


def test_a_site_has_its_sides_kernel_and_a_run_another_identity_for_each(images: Images) -> None:
    layout = lay_out(short_plan())
    other = with_kernel(images, "zz")
    divided = dataclasses.replace(images, sides={"receiver": other})
    assert [divided.at_site(layout, site) for site in (0, 1)] == [divided, other]
    assert [images.at_site(layout, site) for site in (0, 1)] == [images, images]
    turned = dataclasses.replace(images, sides={"sender": other})
    stacks = [resolve_stack("reno")]
    assert len({each.identity(stacks) for each in (images, other, divided, turned)}) == 4


def test_the_record_of_a_run_names_the_kernel_of_each_side(images: Images) -> None:
    plan = short_plan()
    assert "kernels" not in provenance(images, plan)
    divided = dataclasses.replace(images, sides={"sender": with_kernel(images, "zz")})
    made = provenance(divided, plan)
    assert made["kernel"] == made["kernels"]["sender"]
    assert {side: kernel["linux_hash"] for side, kernel in made["kernels"].items()} == {
        "sender": "zz",
        "receiver": "aa",
    }


def test_a_lab_is_called_by_its_kernel_or_by_those_of_both_sides(images: Images) -> None:
    assert title_of(images) == "Linux 7.2.0-mine"
    divided = dataclasses.replace(images, sides={"receiver": with_kernel(images, "zz")})
    assert title_of(divided) == "Linux 7.2.0-mine at the sender, Linux 7.3.0-other at the receiver"


def test_a_module_of_the_users_is_for_the_labs_own_kernel(images: Images, build: FilePath) -> None:
    mine = dataclasses.replace(resolve_stack("fast"), name="mine", build="m1")
    (build / "own" / "m1").mkdir(parents=True)
    (build / "own" / "m1" / "manifest.json").write_text(json.dumps({"linux_hash": "aa"}))
    images.check_stacks([mine])
    with pytest.raises(BadInputError, match=r"cannot be loaded into 7\.3\.0-other"):
        with_kernel(images, "zz").check_stacks([mine])
