"""images/kernel/debug: debug information counts only if it is of the very kernel of a run."""

from __future__ import annotations

import subprocess
from pathlib import Path as FilePath

import pytest

from farpath.base.project import IMAGES
from tests.support.processes import completed

SCRIPT = IMAGES / "kernel" / "debug"
PROGRAM = "int limit = 7; int main(int count, char **words) {{ return count * {factor} + limit; }}"


def build(directory: FilePath, *flags: str, factor: int = 3) -> FilePath:
    """Compile a program in the kernel's place."""
    directory.mkdir()
    linux = directory / "linux"
    command = ["gcc", "-O2", "-no-pie", *flags, "-x", "c", "-o", str(linux), "-"]
    subprocess.run(command, input=PROGRAM.format(factor=factor), text=True, check=True)
    return linux


@pytest.mark.parametrize(("factor", "status"), [(3, 0), (5, 3)])
def test_a_second_build_is_taken_only_if_its_code_is_that_of_the_first(
    tmp_path: FilePath, factor: int, status: int
) -> None:
    first = build(tmp_path / "first")
    second = build(tmp_path / "second", "-g", factor=factor)
    steps = f". {SCRIPT}; objects_dir={second.parent}; origin=Linux; compare_with {first}"
    ended = completed(["bash", "-c", steps])
    assert ended.returncode == status, ended.stderr
    assert ("is another kernel" in ended.stderr) == bool(status)


def test_what_is_no_built_kernel_is_refused(tmp_path: FilePath) -> None:
    ended = completed([SCRIPT, tmp_path])
    assert ended.returncode == 2
    assert "no directory of a kernel" in ended.stderr
