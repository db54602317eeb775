"""The search for a path model: where it begins, how it goes on, and what it finds."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path as FilePath

import pytest

from benchmarks.path_models.model import PathModel, cost_of_tables
from benchmarks.path_models.search import best_trial, continue_search, load_search, read_trials
from benchmarks.path_models.table import best_trial_table, trials_table
from farpath.base.errors import BadInputError, LabFailedError, MachineLacksError
from farpath.base.project import PROJECT
from farpath.metrics.results import RunSummary
from farpath.planning.path_files import path_by_name
from farpath.runs.make import MadeRun, MadeSet
from farpath.runs.run_set import RunSet
from tests.support.campaigns import run_of
from tests.support.printed_runs import as_printed, printed_of

SEARCH = """
path = "cern"
stacks = ["htcp_2004", "reno_2004"]
held_out = ["udt"]
region_s = 120.0
seed = 1
era = "2004"
[ranges]
rate_bps = { low = 4e8, high = 7e8 }
queue_ms = 100.0
loss = { low = 1e-8, high = 1e-5, log = true }
background_part = 0.0
turn_s = 10.0
sources = [1, 2]
[[guesses]]
rate_bps = 5e8
loss = 1e-6
sources = 2
"""


@pytest.fixture
def directory(tmp_path: FilePath) -> FilePath:
    """A search."""
    (tmp_path / "search.toml").write_text(SEARCH)
    return tmp_path


def summary_of(stack: str, rate_bps: float) -> RunSummary:
    """A run in a world in which 622 Mbit/s agrees best; no lab."""
    found = as_printed(stack)
    mean_bps = found.mean_bps * rate_bps / 622e6
    return run_of(printed_of(stack).stack, stack=stack, mean_bps=mean_bps)


def pretend(run_set: RunSet) -> MadeSet[RunSummary]:
    """Makes runs of that world."""
    made = (
        MadeRun(run, FilePath(), "", summary_of(run.values["stack"], float(run.values["rate_bps"])))
        for run in run_set.runs
    )
    return MadeSet(run_set, FilePath(), tuple(made))


def fail(run_set: RunSet) -> MadeSet[RunSummary]:
    """A lab that does not come to its end."""
    raise LabFailedError("the guest hangs")


def test_a_search_begins_with_its_guesses_and_finds_what_fits(directory: FilePath) -> None:
    search = load_search(directory)
    lines: list[str] = []
    continue_search(search, 30, pretend, lines.append)
    trials = read_trials(search)
    assert trials[0]["chosen"] == {"rate_bps": 5e8, "loss": 1e-6, "sources": 2}
    assert len(trials) == len(lines) == 30
    best = best_trial(search)
    assert best["model"]["rate_bps"] == pytest.approx(622e6, rel=0.05)
    assert best["model"]["queue_ms"] == 100.0
    assert set(best["runs"]) == {"htcp_2004", "reno_2004"}
    tables = {
        stack: summary_of(stack, best["model"]["rate_bps"]).summary for stack in search.stacks
    }
    printed = {stack: printed_of(stack) for stack in search.stacks}
    assert cost_of_tables(tables, printed) == best["cost"]


def test_a_search_goes_on_where_it_stopped(directory: FilePath) -> None:
    search = load_search(directory)
    continue_search(search, 2, pretend, lambda _line: None)
    with pytest.raises(LabFailedError):
        continue_search(search, 1, fail, lambda _line: None)
    continue_search(search, 1, pretend, lambda _line: None)
    models = [json.dumps(trial["model"]) for trial in read_trials(search)]
    assert len(set(models)) == 3


@pytest.mark.parametrize(
    ("valid", "wrong", "complaint"),
    [
        (SEARCH, "", "path: field required"),
        (SEARCH, "path = ", "is not TOML"),
        ('path = "cern"', "path = 3", "path: input should be a valid string"),
        ("seed = 1", "seed = 1\nspeed = 2", "speed: unexpected keyword argument"),
        (", high = 7e8", "", "ranges.rate_bps.Interval.high: field required"),
        ("queue_ms = 100.0", "", "ranges.queue_ms: ranges must have each parameter"),
        ("turn_s = 10.0", "turn_s = 10.0\nloss_ms = 1", "ranges.loss_ms: ranges must have"),
        ("loss = 1e-6", 'loss = "small"', "guesses.0.loss"),
        ("[ranges]", 'era_of = {udt = "2004"}\n[ranges]', "era_of.udt: is no stack of this search"),
    ],
)
def test_a_wrong_search_is_refused_with_its_file_and_field(
    tmp_path: FilePath, valid: str, wrong: str, complaint: str
) -> None:
    (tmp_path / "search.toml").write_text(SEARCH.replace(valid, wrong))
    with pytest.raises(BadInputError) as caught:
        load_search(tmp_path)
    assert caught.value.message.startswith(f"{tmp_path / 'search.toml'}: {complaint}")


def test_a_search_that_is_not_there_is_named(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        load_search(tmp_path / "nowhere")


@pytest.mark.parametrize("text", ["{", "[]", '{"trials": []}', '{"format_version": 9}'])
def test_damaged_trials_are_not_overwritten(directory: FilePath, text: str) -> None:
    (directory / "trials.json").write_text(text)
    with pytest.raises(BadInputError, match=r"trials\.json"):
        continue_search(load_search(directory), 1, pretend, lambda _line: None)
    assert (directory / "trials.json").read_text() == text


def test_without_optuna_it_is_said_what_to_install(
    directory: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MachineLacksError, match=r"Optuna is missing: .*'make dev'"):
        continue_search(load_search(directory), 1, pretend, lambda _line: None)


def test_a_search_shows_its_trials_by_cost_and_its_best_beside_published(
    directory: FilePath,
) -> None:
    search = load_search(directory)
    continue_search(search, 3, pretend, lambda _line: None)
    grid = trials_table(search)
    costs = [float(row[1]) for row in grid.lines]
    assert costs == sorted(costs)
    assert grid.header == ("trial", "cost", "rate_bps", "loss", "sources")
    best = best_trial_table(search)
    assert [row[0] for row in best.lines] == ["htcp_2004", "reno_2004"]
    assert "(0.28)" in best.lines[0][3]


def test_a_search_without_trials_has_no_best(directory: FilePath) -> None:
    with pytest.raises(BadInputError, match="nothing was tried yet"):
        best_trial(load_search(directory))


@pytest.mark.parametrize("name", ["cern", "ufl", "caltech"])
def test_a_studied_path_is_the_best_model_of_its_search_rounded(name: str) -> None:
    search = load_search(PROJECT / "experiments" / "path-models" / name)
    found = path_by_name(name)
    best = PathModel(**best_trial(search)["model"]).on(found)
    assert found.rate_bps == best.rate_bps
    assert found.loss == pytest.approx(best.loss, rel=0.01)
    assert found.buffer_bytes == pytest.approx(best.buffer_bytes, rel=0.01)
    assert found.background is not None
    assert best.background is not None
    rate_bps = found.background.rate_bps
    assert rate_bps == pytest.approx(best.background.rate_bps, rel=0.01)
    assert found.background == dataclasses.replace(best.background, rate_bps=rate_bps)
