"""The companion experiments in short, by the command that makes them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.metrics.measures import MEASURES_FILE, Measure, read_measures

#: How long the runs may take, as a limit for hangs.
HANG_S = 3600
COMMAND = (sys.executable, "-m", "farpath", "campaign", "--experiment=companion", "--quick")


@dataclass(frozen=True)
class QuickCompanion:
    """The quick set of the experiment companion: ``report``, measures, and verdicts by claim."""

    records: FilePath
    report: FilePath
    measures: tuple[Measure, ...]
    claims: dict[str, dict[str, Any]]

    def again(self) -> subprocess.CompletedProcess[str]:
        """The same command once more."""
        return _conduct(self.records, self.report)


def _conduct(records: FilePath, report: FilePath) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, f"--out={records}", f"--report={report}"]
    return subprocess.run(command, text=True, capture_output=True, timeout=HANG_S, check=False)


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> QuickCompanion:
    """The quick set, conducted once."""
    directory = tmp_path_factory.mktemp("companion-quick")
    records, report = directory / "records", directory / "report"
    done = _conduct(records, report)
    print(done.stdout)
    assert done.returncode == 0, done.stderr[-3000:]
    judged = json.loads((report / "claims" / "claims.json").read_text())
    claims = {claim["id"]: claim for claim in judged["claims"]}
    return QuickCompanion(records, report, read_measures(report / MEASURES_FILE), claims)
