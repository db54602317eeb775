"""What a bundle adds to the lab's parts: its launcher, and a loader of the kernel's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import MachineLacksError
from farpath.base.project import PROJECT
from farpath.lab.artifacts.scripts import build_artifact
from tests.support.processes import completed

FILES = PROJECT / "images" / "bundle"
LOADER = FilePath("/lib64/ld-linux-x86-64.so.2")


def launched(bundle: FilePath, **environment: str) -> subprocess.CompletedProcess[str]:
    return completed(["sh", bundle / "farpath", "--help"], env={**os.environ, **environment})


@pytest.fixture
def bundle(tmp_path: FilePath) -> FilePath:
    """A bundle of which there is only the launcher."""
    shutil.copy(FILES / "farpath", tmp_path)
    return tmp_path


def test_another_processor_is_named_in_one_line(bundle: FilePath, tmp_path: FilePath) -> None:
    (tmp_path / "uname").write_text('#!/bin/sh\n[ "$1" = -s ] && echo Linux || echo aarch64\n')
    (tmp_path / "uname").chmod(0o755)
    done = launched(bundle, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert line == "farpath: this machine is Linux on aarch64: the bundle runs on Linux on x86_64"


def test_half_a_bundle_is_named_in_one_line(bundle: FilePath) -> None:
    done = launched(bundle)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert "unpack the whole bundle again" in line


def test_programs_that_may_not_be_started_are_named_in_one_line(bundle: FilePath) -> None:
    loader = bundle / "opt/farpath/build/lab/rootfs/lib64/ld-linux-x86-64.so.2"
    loader.parent.mkdir(parents=True)
    loader.touch(0o644)
    done = launched(bundle)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert "mounted without noexec" in line


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


def test_where_nothing_can_be_built_that_is_said(tmp_path: FilePath) -> None:
    with pytest.raises(MachineLacksError, match=r"use a clone of the project"):
        build_artifact(PROJECT / "images" / "kernel" / "no-such-script", str(tmp_path))
