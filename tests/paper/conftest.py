"""The paper in small: its nine stacks at CERN, by the command that makes it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path as FilePath

import pytest

from farpath.metrics import Summary, summarise
from farpath.record import Record, load_record

#: How long the runs may take, as a limit for hangs.
HANG_S = 3600


@dataclass(frozen=True)
class QuickPaper:
    """What ``make paper-quick`` makes: records and, in ``report``, what was made of them."""

    report: FilePath
    records: dict[str, Record]
    summaries: dict[str, Summary]


@pytest.fixture(scope="session")
def quick_paper(tmp_path_factory: pytest.TempPathFactory) -> QuickPaper:
    """The quick campaign, conducted once."""
    place = tmp_path_factory.mktemp("paper-quick")
    out, report = place / "records", place / "report"
    command = [sys.executable, "-m", "farpath.cli", "campaign", "--quick"]
    command += [f"--out={out}", f"--report={report}"]
    done = subprocess.run(command, text=True, capture_output=True, timeout=HANG_S)
    print(done.stderr)
    assert done.returncode == 0, done.stderr[-3000:]
    records = {}
    for file in sorted((report / "records").glob("*/record.json")):
        record = load_record(file.parent)
        records[record.plan.stacks[0].label] = record
    summaries = {stack: summarise(record.samples, record.plan) for stack, record in records.items()}
    return QuickPaper(report, records, summaries)
