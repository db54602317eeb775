"""A campaign's job: its report, the room on the disk, and its directory."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from experiments.ablation.analysis import ABLATION
from experiments.seven_regions.selection import EXPERIMENT as PAPER
from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.locks import exclusive_lock
from farpath.cli import campaign
from farpath.runs import job as jobs
from farpath.runs.experiment import QUICK, ExperimentPart, load_experiment
from farpath.runs.job import LOCK, CampaignJob, campaign_directory
from tests.support.leftovers import killed_maker


def test_a_disk_without_room_is_named_before_a_run_is_begun(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "RUN_BYTES", 1 << 60)
    with pytest.raises(MachineLacksError, match=r"no space left under .* 2 runs take"):
        jobs.check_space(tmp_path, 2)


def test_the_report_of_ones_own_experiment_is_below_its_records_and_has_no_claims(
    tmp_path: FilePath,
) -> None:
    (tmp_path / "mine").mkdir()
    text = 'title = "Mine"\n[[runs]]\nrtt = "20ms"\nstack = ["cubic", "bbr"]\nregion = "5s"\n'
    (tmp_path / "mine" / "experiment.toml").write_text(text)
    own = CampaignJob(load_experiment("mine", tmp_path), out=tmp_path / "results" / "mine")
    assert own.parts == ("tables", "figures", "page")
    assert campaign._default_report_dir(own) == tmp_path / "results" / "mine" / "report"
    quick = CampaignJob(load_experiment("seven-regions"), "quick", tmp_path)
    assert quick.parts == ("tables", "claims", "figures", "page")
    assert campaign._default_report_dir(quick) == FilePath("results/paper-quick")


def test_a_report_of_regions_of_another_length_is_apart(tmp_path: FilePath) -> None:
    short = load_experiment(ABLATION, part=ExperimentPart("30s", ("base",)))
    job = CampaignJob(short, out=tmp_path)
    assert campaign._default_report_dir(job) == tmp_path / "report-30s"
    quick = CampaignJob(short, QUICK, tmp_path)
    assert campaign._default_report_dir(quick) == tmp_path / "report-quick-30s"


def test_a_report_of_some_paths_is_apart(tmp_path: FilePath) -> None:
    part = load_experiment(PAPER, part=ExperimentPart(paths=("cern", "ufl")))
    job = CampaignJob(part, out=tmp_path)
    assert campaign._default_report_dir(job) == FilePath("results/paper-cern-ufl")


def test_the_job_of_all_mechanisms_has_the_same_regions(tmp_path: FilePath) -> None:
    short = load_experiment(ABLATION, part=ExperimentPart("30s", ("base",)))
    whole = CampaignJob(short, out=tmp_path).of_all_mechanisms()
    assert len(whole.runs) > len(short.runs())
    assert {run.plan.schedule.region_s for run in whole.runs} == {30.0}
    assert whole.out == tmp_path


def test_a_campaign_has_its_directory_alone_and_finds_nothing_of_killed_runs(
    tmp_path: FilePath,
) -> None:
    out = tmp_path / "records"
    with campaign_directory(out):
        pass
    killed_maker(out)
    with campaign_directory(out):
        assert [file.name for file in out.iterdir()] == [LOCK]
    with (
        exclusive_lock(out / LOCK, "conducts a campaign"),
        pytest.raises(BadInputError, match="conducts a campaign"),
        campaign_directory(out),
    ):
        pass
