"""Shipped records: smaller, and of the same samples."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.analysis.ablation import ABLATION_FILE, read_ablation
from farpath.campaign import job as jobs
from farpath.campaign.job import CampaignJob
from farpath.campaign.reference import publish, write_compact_record
from farpath.campaign.status import RunStatus
from farpath.planning.experiment import ABLATION, QUICK, load_experiment
from farpath.record.record import Record, load_record
from tests.support.campaigns import write_seven_regions


def test_a_shipped_record_has_the_same_samples_in_less_space(
    record: Record, tmp_path: FilePath
) -> None:
    target = tmp_path / "slim"
    target.mkdir()
    write_compact_record(record, target, {"source_sha256": "told"})
    copy = load_record(target)
    assert copy.fingerprint == record.fingerprint
    assert copy.data["provenance"] == {**record.data["provenance"], "source_sha256": "told"}
    assert copy.data["plan"] == record.data["plan"]
    assert not (target / "raw").exists()
    sizes = [
        sum(file.stat().st_size for file in place.glob("*.parquet"))
        for place in (target, record.directory)
    ]
    assert sizes[0] < sizes[1]


def test_of_an_ablation_the_summaries_are_shipped_and_not_the_records(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = load_experiment(ABLATION).runs(QUICK)[:2]
    made = [
        write_seven_regions(
            tmp_path / "records" / str(index), run.plan.stacks[0].label, path=run.plan.path
        )
        for index, run in enumerate(runs)
    ]
    states = [
        RunStatus(run, record.directory.name, record.directory)
        for run, record in zip(runs, made, strict=True)
    ]
    unmade = RunStatus(runs[0], "unmade", None)
    monkeypatch.setattr(jobs, "run_statuses", lambda _runs, _directories: (*states, unmade))
    job = CampaignJob(load_experiment(ABLATION), QUICK, tmp_path / "records", None, tmp_path)
    file = tmp_path / ABLATION / ABLATION_FILE
    assert publish(job) == [f"summaries of 2 runs written to {file}", "1 runs have none yet"]
    assert len(read_ablation(file).runs) == 2
    assert [each.name for each in file.parent.iterdir()] == [ABLATION_FILE]
