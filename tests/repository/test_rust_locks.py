"""The locks of Rust's crates: within what each Cargo.toml allows, and with checksums."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from farpath.base.project import PROJECT

CRATES = (PROJECT / "images/quic/quinn", PROJECT / "examples/interop/quinn_endpoint")


def read(file: Path) -> Mapping[str, Any]:
    with file.open("rb") as opened:
        return tomllib.load(opened)


def within(version: str, wanted: str) -> bool:
    """Whether a version is none older, and alike up to the first part that is not 0.

    The Cargo Book, "Specifying Dependencies", default requirements.
    """
    found, least = Version(version).release, tuple(map(int, wanted.split(".")))
    alike = next((at for at, part in enumerate(least, start=1) if part), len(least))
    return found[:alike] == least[:alike] and found >= least


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_a_lock_has_all_that_its_crate_requires(crate: Path) -> None:
    packages = read(crate / "Cargo.lock")["package"]
    manifest = read(crate / "Cargo.toml")
    (own,) = (one for one in packages if "source" not in one)
    assert own["version"] == manifest["package"]["version"]
    assert {name.split()[0] for name in own["dependencies"]} == set(manifest["dependencies"])
    for name, wanted in manifest["dependencies"].items():
        text = wanted if isinstance(wanted, str) else wanted["version"]
        versions = [one["version"] for one in packages if one["name"] == name]
        assert any(within(version, text) for version in versions), f"{name} {text}: {versions}"
    others = [one for one in packages if one is not own]
    assert len({one["source"] for one in others}) == 1
    assert all(one["checksum"] for one in others)


def test_both_crates_have_the_same_transport() -> None:
    locks = [read(crate / "Cargo.lock")["package"] for crate in CRATES]
    found = [[one for one in lock if one["name"] == "quinn-proto"] for lock in locks]
    assert found[0] == found[1]
