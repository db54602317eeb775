"""The paper in small: its nine stacks at CERN, by the command that makes it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path as FilePath

import pytest

from experiments.seven_regions.selection import EXPERIMENT as PAPER
from farpath.base.project import experiment_folder
from farpath.metrics.run import Summary, summarise
from farpath.record.record import Record, load_record
from farpath.runs.experiment import FILE, QUICK, load_experiment
from farpath.runs.host_lab import copy_experiment
from farpath.runs.job import CampaignJob

#: How long the runs may take, as a limit for hangs.
HANG_S = 3600
#: What the tests ask of the nine stacks shows in regions shorter than the quick set's.
QUICK_REGION, REGION = 'region = "30s"', 'region = "6s"'


@dataclass(frozen=True)
class QuickPaper:
    """What ``make campaign SET=quick`` makes: records and, in ``report``, what was made of them."""

    report: FilePath
    records: dict[str, Record]
    summaries: dict[str, Summary]


def shortened(folder: FilePath) -> FilePath:
    """A folder of experiments that holds the paper's, its quick set with short regions."""
    copy_experiment(CampaignJob(load_experiment(PAPER), QUICK, folder), folder)
    file = experiment_folder(PAPER, folder) / FILE
    text = file.read_text()
    assert QUICK_REGION in text
    file.write_text(text.replace(QUICK_REGION, REGION))
    return folder


@pytest.fixture(scope="session")
def quick_paper(tmp_path_factory: pytest.TempPathFactory) -> QuickPaper:
    """The quick campaign with short regions, conducted once."""
    directory = tmp_path_factory.mktemp("paper-quick")
    out, report = directory / "records", directory / "report"
    command = [sys.executable, "-m", "farpath", "campaign", "--quick"]
    command += [f"--experiments={shortened(directory / 'experiments')}"]
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
