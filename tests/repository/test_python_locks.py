"""The locks of Python packages: whole, hashed, and within what pyproject.toml allows."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from farpath.base.project import PROJECT

LOCKS = PROJECT / "images" / "python"
METADATA = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
EXTRAS = METADATA["optional-dependencies"]
#: The groups that are installed together with base.
GROUPS = ("statistics", "dev", "release", "paper", "notebook")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def locked(group: str) -> dict[str, str]:
    """The version of each package in a lock; every line is one, with its hashes."""
    lines = (LOCKS / f"{group}.txt").read_text().replace("\\\n", " ").splitlines()
    versions: dict[str, str] = {}
    for line in (line for line in lines if not line.startswith("#")):
        requirement, *hashes = re.split(r"\s+(?=--hash)", line.strip())
        assert hashes, f"{requirement} in {group}.txt has no hash"
        assert all(HASH.fullmatch(each.strip()) for each in hashes), line
        (version,) = Requirement(requirement).specifier
        assert version.operator == "==", f"{requirement} in {group}.txt is not pinned"
        versions[canonicalize_name(Requirement(requirement).name)] = version.version
    return versions


def requirements_of(extra: str) -> list[Requirement]:
    """What a group of pyproject.toml names, groups that it includes too."""
    requirements = []
    for requirement in map(Requirement, EXTRAS[extra]):
        if requirement.name == METADATA["name"]:
            requirements += [one for inner in requirement.extras for one in requirements_of(inner)]
        else:
            requirements.append(requirement)
    return requirements


def assert_within(requirements: list[Requirement], versions: dict[str, str]) -> None:
    for requirement in requirements:
        version = versions.get(canonicalize_name(requirement.name))
        assert version, f"{requirement} is in no lock: run 'make lock'"
        assert version in requirement.specifier, f"{requirement}, locked {version}: 'make lock'"


def test_the_base_lock_has_all_that_farpath_itself_requires() -> None:
    assert_within([Requirement(text) for text in METADATA["dependencies"]], locked("base"))


@pytest.mark.parametrize("group", GROUPS)
def test_a_groups_lock_has_with_base_and_installer_all_that_it_requires(group: str) -> None:
    versions = {**locked("base"), **locked("installer"), **locked(group)}
    assert_within(requirements_of(group), versions)


def test_a_package_has_one_version_in_all_locks() -> None:
    versions = {**locked("installer"), **locked("base")}
    for group in GROUPS:
        for name, version in locked(group).items():
            assert versions.setdefault(name, version) == version, f"{name} in {group}.txt"


def test_the_locks_name_no_index_and_no_place_of_packages() -> None:
    for lock in LOCKS.glob("*.txt"):
        text = lock.read_text()
        assert "://" not in text
        assert not re.search(r"index|find-links|trusted", text), lock
