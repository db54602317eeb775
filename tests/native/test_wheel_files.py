"""What the lab's wheel adds to the lab's parts: a loader of the kernel's own, and lists."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path as FilePath
from types import ModuleType

import pytest

from farpath import __version__
from farpath.base.errors import MachineLacksError
from farpath.base.project import PROJECT
from farpath.lab.artifacts.scripts import build_artifact
from tests.support.processes import completed

FILES = PROJECT / "images" / "wheel"
LOADER = FilePath("/lib64/ld-linux-x86-64.so.2")
STATUS = """\
Package: bash
Status: install ok installed
Architecture: amd64
Version: 5.2.37-2+b9

Package: libblkid1
Status: install ok installed
Architecture: amd64
Source: util-linux (2.41-5)
Version: 2.41-5+b1

Package: gone
Status: deinstall ok config-files
Architecture: all
Version: 1
"""


@pytest.fixture(scope="module")
def describe() -> ModuleType:
    """images/wheel/describe.py, as a module."""
    spec = importlib.util.spec_from_file_location("describe", FILES / "describe.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_program_starts_with_the_loader_that_it_was_given(tmp_path: FilePath) -> None:
    program = tmp_path / "true.elf"
    true = str(shutil.which("true"))
    script = [sys.executable, str(FILES / "own-loader.py"), true, "root/loader", str(program)]
    subprocess.run(script, check=True)
    with pytest.raises(FileNotFoundError):
        subprocess.run([program], cwd=tmp_path, check=True)
    (tmp_path / "root").mkdir()
    (tmp_path / "root/loader").symlink_to(LOADER)
    subprocess.run([program], cwd=tmp_path, check=True)


def test_the_glibc_that_a_program_needs_is_what_readelf_shows(describe: ModuleType) -> None:
    program = FilePath(str(shutil.which("tar")))
    shown = completed(["readelf", "--version-info", program], check=True).stdout
    versions = [match.split(".") for match in re.findall(r"Name: GLIBC_([0-9.]+)", shown)]
    expected = max(tuple(map(int, version)) for version in versions)
    assert describe.glibc_needed(program.read_bytes()) == expected


def test_a_library_for_a_newer_glibc_than_the_tag_says_is_refused(
    describe: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(describe, "GLIBC", (2, 2))
    with pytest.raises(SystemExit, match=r"tar needs glibc .*: build it on an older system"):
        describe.check_glibc(FilePath(str(shutil.which("tar"))))


def test_installed_packages_are_listed_with_the_source_of_each(describe: ModuleType) -> None:
    assert list(describe.package_rows("lab", STATUS)) == [
        ("lab", "bash", "5.2.37-2+b9", "amd64", "bash", "5.2.37-2"),
        ("lab", "libblkid1", "2.41-5+b1", "amd64", "util-linux", "2.41-5"),
    ]


def test_a_kernel_whose_source_nobody_else_has_is_refused(describe: ModuleType) -> None:
    assert describe.kernel_row({"source": "linux-source-7.2 7.2.12-1"})[4:] == ("linux", "7.2.12-1")
    with pytest.raises(SystemExit, match=r"run 'make kernel' without KERNEL_SRC"):
        describe.kernel_row({"source": "/home/user/linux"})


def test_the_extra_lab_is_the_lab_of_this_version() -> None:
    metadata = (PROJECT / "pyproject.toml").read_text()
    assert f'lab = [\n    "farpath-lab=={__version__}",\n]' in metadata


def test_where_nothing_can_be_built_that_is_said(tmp_path: FilePath) -> None:
    with pytest.raises(MachineLacksError, match=r"use a clone of the project"):
        build_artifact(PROJECT / "images" / "kernel" / "no-such-script", str(tmp_path))
