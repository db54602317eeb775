"""Outlook: the quantities of table 1, and of runs without regions all but F."""

from __future__ import annotations

from pathlib import Path as FilePath

from farpath.analysis.studies import outlook
from farpath.planning.experiment import QUICK
from tests.support.study_runs import write_recorded_runs


def test_a_seven_region_test_has_f_and_streams_have_none(tmp_path: FilePath) -> None:
    measures = outlook.measures(write_recorded_runs(tmp_path, outlook.EXPERIMENT, QUICK))
    quantities: dict[tuple[str, str], set[str]] = {}
    for measure in measures:
        key = (measure.about["schedule"], measure.about["stack"])
        quantities.setdefault(key, set()).add(measure.quantity)
    whole = {outlook.MEAN, outlook.STABILITY, outlook.RTT, outlook.FAIRNESS}
    assert quantities == {
        ("seven-regions", "africa"): whole,
        ("seven-regions", "westwood"): whole,
        ("together", "reno_2004"): whole - {outlook.FAIRNESS},
        ("together", "16xreno_2004"): whole - {outlook.FAIRNESS},
    }
