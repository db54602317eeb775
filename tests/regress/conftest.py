"""The command that compares stacks' behaviour, with the real lab."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import pytest

#: How long builds and runs may take, as a limit for hangs.
HANG_S = 3600


class Ended(NamedTuple):
    """How the command ended; ``runs``: what its report says of each, by name."""

    status: int
    out: str
    err: str
    runs: dict[str, dict[str, Any]]


Regress = Callable[..., Ended]


def call_in(directory: FilePath) -> Regress:
    """``farpath regress``, with records and reports in directories of this place."""
    out = directory / "out"
    report = out / "report" / "report.json"

    def call(*options: str) -> Ended:
        report.unlink(missing_ok=True)
        # As Make and people call it: runs are made by processes that import the command again
        farpath = str(FilePath(sys.executable).with_name("farpath"))
        command = [farpath, "regress", *options, f"--out={out}"]
        done = subprocess.run(command, text=True, capture_output=True, timeout=HANG_S)
        report_runs = json.loads(report.read_text())["runs"] if report.exists() else []
        runs = {run["run"]: run for run in report_runs}
        return Ended(done.returncode, done.stdout, done.stderr, runs)

    return call


@pytest.fixture
def regress(tmp_path: FilePath) -> Regress:
    """Call ``farpath regress``; records and reports go to a directory of the test's own."""
    return call_in(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Regress:
    """The same with a directory for all tests of a file: a run that was made is not repeated."""
    return call_in(tmp_path_factory.mktemp("regress"))
