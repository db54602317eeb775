"""An ablation to show: the reader's own report first, then what the project ships."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from experiments.ablation.analysis import ABLATION, ABLATION_FILE, write_ablation
from experiments.ablation.selection import ablation_to_show
from farpath.base.errors import BadInputError
from farpath.runs.experiment import QUICK
from tests.support.ablations import ablation_of


def test_without_results_one_line_names_the_commands_that_make_some(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError) as refused:
        ablation_to_show(tmp_path / "results", tmp_path)
    assert "make campaign EXPERIMENT=ablation SET=quick" in refused.value.message
    assert "\n" not in refused.value.message


def test_shipped_results_are_shown_until_there_are_own_ones(tmp_path: FilePath) -> None:
    experiments, results = tmp_path / "experiments", tmp_path / "results"
    write_ablation(ablation_of(), experiments / ABLATION / ABLATION_FILE)
    shown = ablation_to_show(results, experiments)
    runs = "249 runs, 11 mechanisms, path cern, regions of 120 s, 3 seeds"
    assert shown.sentence == f"The runs that farpath made: {runs}."
    assert shown.tables[0].name == "ablation-mean_mbps"
    write_ablation(ablation_of(which=QUICK), results / ABLATION / "report-quick" / ABLATION_FILE)
    own = ablation_to_show(results, experiments)
    assert own.sentence.startswith(
        "Your own runs, of 'make campaign EXPERIMENT=ablation SET=quick': 83 runs"
    )
    for folder in ("report-quick-5s", "report-30s"):
        write_ablation(ablation_of(which=QUICK), results / ABLATION / folder / ABLATION_FILE)
    own = ablation_to_show(results, experiments)
    assert own.sentence.startswith(
        "Your own runs, of 'make campaign EXPERIMENT=ablation REGION=30s': 83 runs"
    )
    write_ablation(ablation_of(), results / ABLATION / "report" / ABLATION_FILE)
    assert "'make campaign EXPERIMENT=ablation'" in ablation_to_show(results, experiments).sentence
