"""What images/qemu/machine says before it starts anything."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from farpath.base.project import PROJECT
from tests.support.processes import completed

SCRIPT = PROJECT / "images" / "qemu" / "machine"


def machine(*arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    return completed(
        ["/bin/bash", SCRIPT, *arguments],
        timeout=60,
        env=None if path is None else {"PATH": path, "HOME": "/nonexistent"},
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "--root is missing"),
        (("--root",), "--root lacks its value"),
        (("--root", "/nonexistent", "--", "true"), "/nonexistent is no directory or file"),
        (("--root", "/"), "no command after --"),
        (("--root", "/", "--limit", "soon", "--", "true"), "--limit soon is no whole number"),
        (("--root", "/", "--instruction-ns", "3", "--", "true"), "no power of two"),
        (("--root", "/", "--colour", "--", "true"), "unknown argument '--colour'"),
    ],
)
def test_a_wrong_argument_is_named_in_one_line(arguments: tuple[str, ...], named: str) -> None:
    done = machine(*arguments)
    assert done.returncode == 2
    assert named in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_host_without_qemu_is_told_how_to_get_it(tmp_path: Path) -> None:
    for tool in ("dirname", "uname"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")
    done = machine("--root", "/", "--", "true", path=str(tmp_path))
    assert done.returncode == 3
    assert "images/host-packages qemu" in done.stderr
    assert done.stderr.count("\n") == 1
