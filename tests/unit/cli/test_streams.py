"""Streams that cannot be written: results that are lost are said, progress is not missed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path as FilePath

import pytest

from farpath.base.project import PROJECT

MAIN = "import sys; sys.argv[0] = 'farpath'; from farpath.cli.app import main; "
#: Prints much to both streams, makes a file, and ends with the status of its argument.
PRINTING = (
    MAIN
    + """
import typer
from farpath.cli.app import app

@app.command("print-much")
def print_much(status: int) -> None:
    for number in range(20_000):
        print("result", number)
        print("progress", number, file=sys.stderr)
    with open("made", "w") as file:
        file.write("whole")
    raise typer.Exit(status)
main()
"""
)


def shell(
    code: str, words: str, redirected: str, cwd: FilePath
) -> subprocess.CompletedProcess[bytes]:
    """Run farpath in a shell; of a pipe, the status is farpath's."""
    return subprocess.run(
        [
            "bash",
            "-o",
            "pipefail",
            "-c",
            f'"$0" -c "$1" {words} {redirected}',
            sys.executable,
            code,
        ],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("redirected", "status"),
    [
        ("2> >(head -c 1 >/dev/null)", 0),
        ("2>/dev/full", 0),
        ("2>&-", 0),
        (">&-", 0),
        (">&- 2>&- <&-", 0),
        ("| head -c 1", 141),
        ("2>&1 | head -c 1", 141),
        (">/dev/full", 3),
    ],
)
def test_a_command_is_carried_out_whoever_reads_it(
    tmp_path: FilePath, redirected: str, status: int
) -> None:
    done = shell(PRINTING, "print-much 0", redirected, tmp_path)
    assert done.returncode == status
    assert (tmp_path / "made").read_text() == "whole"
    errors = [line for line in done.stderr.splitlines() if not line.startswith(b"progress ")]
    if status == 3:
        assert len(errors) == 1
        assert errors[0].startswith(b"farpath: stdout cannot be written (No space left on device)")
    else:
        assert errors == []


def test_a_status_of_its_own_is_kept_when_nobody_reads(tmp_path: FilePath) -> None:
    assert shell(PRINTING, "print-much 5", "2>&1 | head -c 1", tmp_path).returncode == 5


def test_a_working_directory_that_was_removed_is_said(tmp_path: FilePath) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = shell(MAIN + "import os; os.rmdir(os.getcwd()); main()", "stacks", "", gone)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == (
        b"farpath: the working directory was removed: go to another one with cd, then try again\n"
    )
