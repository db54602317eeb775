"""Images: what was built, found, and judged before anything boots."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import MachineLacksError
from farpath.lab.artifacts.images import Images, find_images
from farpath.planning.stack_catalog import resolve_stack
from farpath.spec.host_image import HostImage

KERNEL = {"linux_hash": "aa", "seedrandom_hash": "bb", "release": "7.2.0-mine"}
CONFIG = "CONFIG_TCP_CONG_HTCP=y\nCONFIG_TCP_CONG_HSTCP=y\n# CONFIG_TCP_CONG_BIC is not set\n"


@pytest.fixture
def build(tmp_path: FilePath) -> FilePath:
    """A build of everything, its kernel without BIC and with one module."""
    module = {"module_hash": "cc", "source_hash": "dd"}
    manifests = {
        "kernel": KERNEL,
        "lab": {"packages_hash": "1"},
        "sender": {"packages_hash": "2"},
        "stacks": {"linux_hash": "aa", "modules": {"tcp_fast": module}},
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
