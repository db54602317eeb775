"""The lab of a wheel: unpacked once, whole, as its modes say; what is wrong is one line."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import tarfile
from pathlib import Path as FilePath

import pytest

from farpath import __version__
from farpath.base import project
from farpath.base.errors import MachineLacksError
from farpath.lab.artifacts import lab_wheel

KERNEL = b"a kernel"
#: Unpacks a package's lab in a process of its own.
UNPACK = """
import logging, sys
from pathlib import Path
from farpath.lab.artifacts import lab_wheel
logging.basicConfig(level=logging.INFO)
lab_wheel._provide(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def fill(package: FilePath) -> None:
    """Makes what a lab's wheel has, of one file of a kernel and one of a root."""
    tree = package / "tree"
    kernel, root = tree / "parts/kernel/k1", tree / "parts/lab/l1/rootfs"
    for folder in (kernel, root / "tmp", tree / "build"):
        folder.mkdir(parents=True)
    (kernel / "linux").write_bytes(KERNEL)
    (kernel / "linux").chmod(0o755)
    (root / "passwd").write_text("root")
    (root / "passwd").chmod(0o644)
    (root / "tmp").chmod(0o1777)
    (root / "shell").symlink_to("/bin/sh")
    os.link(root / "passwd", root / "group")
    (tree / "build/kernel").symlink_to("../parts/kernel/k1")
    archive = package / "lab.tar.xz"
    with tarfile.open(archive, "w:xz") as stream:
        for name in ("build", "parts"):
            stream.add(tree / name, name)
    describe(package)
    kernel_hash = hashlib.sha256(KERNEL).hexdigest()
    (package / "files.tsv").write_text(
        f"{len(KERNEL)}\t{kernel_hash}\tparts/kernel/k1/linux\n"
        "4\t\tparts/lab/l1/rootfs/passwd\n4\t\tparts/lab/l1/rootfs/group\n"
    )


def describe(package: FilePath, version: str = __version__, size_bytes: int = 12) -> None:
    described = {
        "version": version,
        "release": "7.2",
        "archive": "lab.tar.xz",
        "sha256": hashlib.sha256((package / "lab.tar.xz").read_bytes()).hexdigest(),
        "bytes": size_bytes,
    }
    (package / "lab.json").write_text(json.dumps(described))


@pytest.fixture
def package(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> FilePath:
    """The package of a lab's wheel, beside a farpath that is no clone."""
    package = tmp_path / "farpath_lab"
    package.mkdir()
    fill(package)
    monkeypatch.setattr(project, "IS_CLONE", False)
    monkeypatch.setattr(project, "LAB", package)
    monkeypatch.setattr(project, "BUILD", tmp_path / "cache" / "wheel" / "1" / "build")
    return package


def refusal() -> str:
    lab_wheel._provide.cache_clear()
    with pytest.raises(MachineLacksError) as refused:
        lab_wheel.provide(project.BUILD)
    return refused.value.message


def test_modes_are_those_of_the_archive_after_a_strict_umask(package: FilePath) -> None:
    before = os.umask(0o077)
    try:
        lab_wheel.provide(project.BUILD)
    finally:
        os.umask(before)
    kernel = project.BUILD / "kernel" / "linux"
    root = project.BUILD.parent / "parts/lab/l1/rootfs"
    assert kernel.read_bytes() == KERNEL
    modes = [file.stat().st_mode & 0o7777 for file in (kernel, root / "passwd", root / "tmp")]
    assert modes == [0o755, 0o644, 0o1777]
    assert os.readlink(root / "shell") == "/bin/sh"
    assert (root / "group").samefile(root / "passwd")
    assert lab_wheel.origin() == (
        f"lab's kernel 7.2 of the wheel farpath-lab {__version__}, in {project.BUILD.parent}"
    )


def test_links_to_builds_of_users_stay_beside_those_of_the_lab(package: FilePath) -> None:
    (project.BUILD / "own").mkdir(parents=True)
    lab_wheel.provide(project.BUILD)
    assert {link.name for link in project.BUILD.iterdir()} == {"kernel", "own"}


def test_two_processes_at_once_unpack_once_and_clear_what_a_killed_one_left(
    package: FilePath,
) -> None:
    place = project.BUILD.parent
    left = place / ".partial-1-0123abcd"
    left.mkdir(parents=True)
    command = [sys.executable, "-c", UNPACK, str(package), str(place)]
    both = [
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=project.PROJECT)
        for _ in range(2)
    ]
    said = "".join(process.communicate()[1] for process in both)
    assert [process.returncode for process in both] == [0, 0], said
    assert said.count("unpacking the lab once") == 1
    assert sorted(each.name for each in place.iterdir()) == ["build", "parts"]


def test_a_damaged_archive_is_refused_and_leaves_nothing(package: FilePath) -> None:
    archive = package / "lab.tar.xz"
    archive.write_bytes(archive.read_bytes()[:100])
    assert refusal().startswith(f"{archive} is damaged (its SHA-256 begins with")
    assert refusal().endswith(
        f"pip install --force-reinstall --no-deps --no-cache-dir farpath-lab=={__version__}"
    )
    describe(package)
    assert "cannot be unpacked" in refusal()
    assert list(project.BUILD.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("file", "content"),
    [("kernel/k1/linux", b"a kernek"), ("lab/l1/rootfs/passwd", b""), ("kernel/k1/linux", None)],
    ids=["changed", "cut", "gone"],
)
def test_an_unpacked_file_that_was_changed_is_named_with_the_remedy(
    package: FilePath, file: str, content: bytes | None
) -> None:
    lab_wheel.provide(project.BUILD)
    parts = project.BUILD.parent / "parts"
    (parts / file).unlink()
    if content is not None:
        (parts / file).write_bytes(content)
    assert refusal() == (
        f"{parts / file} is not as it was unpacked: remove {parts} (rm -r), and the next call "
        "unpacks the lab again"
    )


def test_a_cache_without_room_is_named_before_anything_is_unpacked(package: FilePath) -> None:
    describe(package, size_bytes=1 << 60)
    assert refusal() == (
        f"{project.BUILD.parent} has no space left, and the lab is unpacked there once: free some, "
        "or set FARPATH_CACHE to another directory"
    )


def test_a_cache_that_cannot_be_written_is_named(package: FilePath, tmp_path: FilePath) -> None:
    (tmp_path / "cache").write_text("no directory")
    assert refusal().startswith(f"{project.BUILD.parent} cannot be written (Not a directory)")


def test_a_lab_of_another_version_and_none_are_refused(
    package: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(package, version="0.0.1")
    install = f"pip install 'farpath[lab]=={__version__}'"
    assert refusal() == f"farpath {__version__} cannot use farpath-lab 0.0.1: {install}"
    monkeypatch.setattr(project, "LAB", None)
    assert refusal() == (
        f"no lab is installed beside farpath {__version__}: {install}, or use a clone"
    )


def test_another_c_library_is_refused(package: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert refusal() == (
        "this Python's C library is another, not glibc, for which alone there is a lab: use a "
        "distribution with glibc, or a container of one"
    )


def test_a_clone_has_a_lab_of_its_own(package: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "IS_CLONE", True)
    lab_wheel.provide(project.BUILD)
    assert not project.BUILD.exists()
