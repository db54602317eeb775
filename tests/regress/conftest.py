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


@pytest.fixture
def regress(tmp_path: FilePath) -> Regress:
    """Call ``farpath regress``; records and reports go to a directory of the test's own."""

    def call(*options: str, out: str = "out") -> Ended:
        command = [sys.executable, "-m", "farpath.cli", "regress", *options]
        command.append(f"--out={tmp_path / out}")
        done = subprocess.run(command, text=True, capture_output=True, timeout=HANG_S)
        report = tmp_path / out / "report" / "report.json"
        found = json.loads(report.read_text())["runs"] if report.exists() else []
        runs = {run["run"]: run for run in found}
        return Ended(done.returncode, done.stdout, done.stderr, runs)

    return call
