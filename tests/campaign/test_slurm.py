"""The same campaign on a real Slurm gives the same fingerprints."""

from __future__ import annotations

import subprocess
from pathlib import Path as FilePath

import pytest

from farpath.record.record import load_record
from tests.campaign import slurm as slurms
from tests.campaign.conftest import HANG_S, Campaign, Story

OPTIONS = (
    *("--executor", "slurm", "--slurm-no-account", "--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "2", "--seconds-between-status-checks", "2"),
)


def test_a_campaign_on_two_nodes_has_the_fingerprints_of_the_local_one(
    story: Story, tmp_path: FilePath
) -> None:
    if (lacks := slurms.missing()) is not None:
        pytest.skip(f"no Slurm of two nodes here: {lacks}")
    campaign = Campaign(story.campaign.experiments, tmp_path / "records")
    place = tmp_path / "slurm"
    place.mkdir()
    with slurms.slurm(place) as cluster:
        done = subprocess.run(
            cluster.inside(*campaign.command("--cores=2", "--", *OPTIONS)),
            capture_output=True,
            text=True,
            timeout=HANG_S,
        )
        nodes = cluster.nodes_of_jobs()
    assert done.returncode == 0, done.stderr
    assert sorted(nodes.values()) == sorted(slurms.NODES)
    for mine, local in zip(campaign.places, story.campaign.places, strict=True):
        assert load_record(mine).fingerprint == load_record(local).fingerprint
