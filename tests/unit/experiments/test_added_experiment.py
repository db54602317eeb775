"""An experiment is one new folder: the engine finds its runs, measures, tables, claims, figures."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.report.measures_report import report_of, write_report
from farpath.runs.experiment import load_experiment
from farpath.runs.status import RunStatus
from tests.support.command_line import Farpath
from tests.support.study_runs import write_run

FILES = {
    "experiment.toml": """
title = "Two stacks on the way to Mars"
[[runs]]
path = "cern"
stack = ["reno", "cubic"]
time = "20s"
minutes = 1
""",
    "analysis.py": """
from farpath.runs.claims.criteria import Criteria, matching
from farpath.runs.claims.condition import Condition
from farpath.metrics.measures import Measure
from farpath.metrics.flow import mean_bps

def measures(runs):
    return [
        Measure("to-mars", each.run.label, "throughput", "Mbit/s", mean_bps(each.record) / 1e6,
                each.run.plan.seed, about={"stack": each.run.request.stack})
        for each in runs
    ]

def reno_arrives(measures):
    (reno,) = matching(measures, "to-mars", "throughput", stack="reno")
    return Criteria((Condition("throughput of Reno", reno.value, ">", 0, "Mbit/s"),))

CLAIMS = {"M1": reno_arrives}
""",
    "figure.py": """
from matplotlib.figure import Figure

from . import analysis

def figures(measures, runs):
    figure = Figure()
    figure.subplots().bar(range(len(measures)), [each.value for each in measures])
    yield "to-mars", figure
    assert analysis.CLAIMS
""",
    "claims.toml": """
[[claims]]
id = "M1"
source = "a letter"
claim = "Reno arrives on Mars"
decided_by = "its throughput is above 0"
runs = "to-mars: one flow of Reno"

[[claims]]
id = "M2"
source = "a letter"
claim = "Each stack arrives on Mars, CUBIC as Reno does"
decided_by = "its throughput is above 0, and that of both the same"
runs = "to-mars: one flow of each"
given = {quantity = "throughput"}
each = {stack = "all"}
[[claims.conditions]]
kind = "threshold"
words = "throughput of {stack}"
of = {about = {stack = "{stack}"}}
relation = ">"
limit = 0
unit = "Mbit/s"
[[claims.conditions]]
kind = "range"
words = "{stack} over Reno"
of = {about = {stack = "{stack}"}}
over = {about = {stack = "reno"}}
between = [0.99, 1.01]
""",
}


@pytest.fixture
def experiments(tmp_path: FilePath) -> FilePath:
    """A folder of experiments with one new one."""
    folder = tmp_path / "experiments"
    for name, text in FILES.items():
        file = folder / "to_mars" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def test_a_new_folder_is_listed_measured_judged_and_drawn(
    farpath: Farpath, experiments: FilePath, tmp_path: FilePath
) -> None:
    refused = farpath("campaign", "--experiment=nobody", f"--experiments={experiments}")
    assert "must be one of to-mars" in refused.err

    runs = load_experiment("to-mars", experiments).runs()
    assert [run.plan.stacks[0].label for run in runs] == ["reno", "cubic"]
    records = [
        write_run(tmp_path / "records" / str(number), run) for number, run in enumerate(runs)
    ]
    states = [
        RunStatus(run, "", record.directory) for run, record in zip(runs, records, strict=True)
    ]
    report = report_of(states, experiments)
    assert [verdict.state for verdict in report.verdicts] == ["holds", "holds"]
    write_report(report, tmp_path / "report")
    written = {file.name for file in (tmp_path / "report").rglob("*.*")}
    assert {"to-mars.csv", "claims.json", "to-mars.png"} <= written
    claim, data = json.loads((tmp_path / "report/claims/claims.json").read_text())["claims"]
    assert claim["claim"] == "Reno arrives on Mars"
    quantities = [condition["what"] for condition in data["conditions"]]
    assert quantities[0] == "throughput of reno"
    assert quantities.count("cubic over Reno") == 2
    assert "Two stacks on the way to Mars" in (tmp_path / "report/tables/to-mars.txt").read_text()


def test_a_module_of_an_experiment_that_cannot_be_imported_is_named(experiments: FilePath) -> None:
    file = experiments / "to_mars" / "analysis.py"
    file.write_text("import nothing_of_that_name")
    with pytest.raises(BadInputError, match="nothing_of_that_name") as raised:
        report_of([], experiments, ["to-mars"])
    assert str(file) in raised.value.message


def test_a_rule_of_no_kind_is_refused_with_its_file(experiments: FilePath) -> None:
    file = experiments / "to_mars" / "claims.toml"
    file.write_text(FILES["claims.toml"].replace('kind = "range"', 'kind = "guess"'))
    with pytest.raises(BadInputError, match="guess") as raised:
        report_of([], experiments)
    assert str(file) in raised.value.message
