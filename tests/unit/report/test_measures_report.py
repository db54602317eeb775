"""The report of measures."""

from __future__ import annotations

import shutil
from pathlib import Path as FilePath

from experiments.bbr_queue import analysis as bbr_queue
from experiments.recovery import analysis as recovery
from farpath.base.project import EXPERIMENTS
from farpath.metrics.measures import read_measures
from farpath.report.measures_report import report_of, report_text, write_report
from farpath.runs.experiment import QUICK
from farpath.runs.status import RunStatus
from tests.support.study_runs import write_recorded_runs


def test_a_report_reads_each_record_once(tmp_path: FilePath) -> None:
    statuses = [
        RunStatus(each.run, each.record.directory.name, each.record.directory)
        for each in write_recorded_runs(tmp_path / "records", recovery.EXPERIMENT, QUICK)
    ]
    unmade = RunStatus(statuses[0].run, "unmade", None)
    made = report_of([*statuses, unmade], EXPERIMENTS)
    assert [each.run.plan for each in made.done] == [state.run.plan for state in statuses]
    shutil.rmtree(tmp_path / "records")
    write_report(made, tmp_path / "report")
    assert read_measures(tmp_path / "report" / "measures.json") == made.measures
    pictures = {file.name for file in (tmp_path / "report" / "figures").iterdir()}
    paths = {state.run.request.path for state in statuses}
    assert pictures == {f"recovery-{path}.{kind}" for path in paths for kind in ("png", "svg")}
    assert (tmp_path / "report" / "tables" / "recovery.csv").is_file()
    claims = (tmp_path / "report" / "claims" / "claims.txt").read_text()
    assert "C23" in claims
    # Claims of other experiments are not judged by these measures
    assert "needs the experiment" not in claims


def test_an_experiment_without_claims_has_none_in_its_report(tmp_path: FilePath) -> None:
    statuses = [
        RunStatus(each.run, each.record.directory.name, each.record.directory)
        for each in write_recorded_runs(tmp_path / "records", bbr_queue.EXPERIMENT, QUICK)
    ]
    made = report_of(statuses, EXPERIMENTS)
    write_report(made, tmp_path / "report")
    assert not (tmp_path / "report" / "claims").exists()
    assert "undecided" not in report_text(made)
