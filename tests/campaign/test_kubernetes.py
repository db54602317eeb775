"""What a Kubernetes pod runs makes the run of its index."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path as FilePath

import yaml

from farpath.base.project import EXPERIMENTS
from farpath.record.record import load_record
from tests.campaign.conftest import HANG_S, NAME, Campaign, Story


def command(campaign: Campaign, index: int) -> list[str]:
    """The manifest's command, for another experiment and without a container."""
    documents = yaml.safe_load_all((EXPERIMENTS / "kubernetes" / "job.yaml").read_text())
    job = next(document for document in documents if document["kind"] == "Job")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    here = {
        "seven-regions": NAME,
        "--experiments=/experiments": f"--experiments={campaign.experiments}",
        f"--out=/farpath/results/{NAME}": f"--out={campaign.out}",
        "$(JOB_COMPLETION_INDEX)": str(index),
    }
    arguments = container["args"]
    for told, meant in here.items():
        assert any(told in text for text in arguments), f"the manifest no longer says {told}"
        arguments = [text.replace(told, meant) for text in arguments]
    return [sys.executable, "-m", "farpath", *arguments]


def run(campaign: Campaign, index: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(campaign, index), capture_output=True, text=True, timeout=HANG_S, check=False
    )


def test_each_index_is_one_run_and_gives_its_record(story: Story, tmp_path: FilePath) -> None:
    campaign = story.campaign.copy(tmp_path / "records")
    first, second = campaign.places
    shutil.rmtree(second)
    for index, place in enumerate((first, second)):
        done = run(campaign, index)
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == str(place)
    local = story.campaign.places[1]
    assert load_record(second).fingerprint == load_record(local).fingerprint


def test_an_index_beyond_the_runs_is_refused(story: Story) -> None:
    done = run(story.campaign, 2)
    assert done.returncode == 2
    assert "--index is 2: it must be from 0 to 1" in done.stderr
