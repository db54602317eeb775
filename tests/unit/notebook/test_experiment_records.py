"""Companion experiments to show: the reader's own records first, then what the project ships."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path as FilePath

import pytest

from experiments.cbr_background import analysis as cbr_background
from experiments.inter_protocol import analysis as inter_protocol
from experiments.recovery import analysis as recovery
from farpath.base.errors import BadInputError
from farpath.base.project import experiment_folder
from farpath.metrics.measures import MEASURES_FILE, select_measures, write_measures
from farpath.notebook.experiment_records import experiment_to_show
from farpath.report.figures.experiments import figures
from farpath.runs.analyses import campaign_command
from farpath.runs.claims.claim_rules import claims_of, measure_rules
from farpath.runs.experiment import QUICK, WHOLE, load_experiment
from farpath.runs.status import shipped_records
from tests.support.study_runs import ALL_ANALYSES, copy_experiments, write_run, write_runs

NAME = cbr_background.EXPERIMENT


@pytest.fixture
def experiments(tmp_path: FilePath) -> FilePath:
    return copy_experiments(tmp_path / "experiments")


@pytest.fixture
def results(tmp_path: FilePath) -> FilePath:
    return tmp_path / "results"


@pytest.mark.parametrize("name", ALL_ANALYSES)
def test_without_any_record_nothing_is_shown_and_one_line_names_the_commands_that_make_some(
    results: FilePath, experiments: FilePath, name: str
) -> None:
    selection = experiment_to_show(name, results, experiments)
    origin, missing = selection.sentences
    commands = (campaign_command(name, "quick"), campaign_command(name))
    for words in (f"of {name}", str(results), *(f"'{command}'" for command in commands)):
        assert words in origin
    assert origin.startswith("Nothing is measured yet")
    assert ": 0 of " in origin
    assert missing.startswith("Missing: ")
    assert (selection.tables, selection.closest_run()) == ((), None)
    assert [verdict.id for verdict in selection.verdicts] == list(claims_of(name))
    assert dict(figures(selection.measures, selection.done)) == {}


@pytest.mark.parametrize("name", ALL_ANALYSES)
def test_what_is_shipped_is_shown_with_table_figures_and_verdicts(
    results: FilePath, experiments: FilePath, name: str
) -> None:
    made = write_runs(shipped_records(name, experiments), name)
    selection = experiment_to_show(name, results, experiments)
    many = f"{len(made)} of {len(made)} runs of {name}"
    assert selection.sentences == (f"The records that farpath ships, the quick set: {many}.",)
    (sheet,) = selection.tables
    assert sheet.title == selection.experiment.title
    assert len(sheet.data) == len(selection.measures)
    assert [verdict.id for verdict in selection.verdicts] == list(claims_of(name))
    drawn = dict(figures(selection.measures, selection.done))
    assert drawn
    assert all(stem.startswith(name) for stem in drawn)


def test_every_claim_of_the_companion_is_some_experiments() -> None:
    claims = [claim for name in ALL_ANALYSES for claim in claims_of(name)]
    assert sorted(claims) == sorted(measure_rules())


def test_runs_that_are_missing_are_named_and_the_others_shown(
    results: FilePath, experiments: FilePath
) -> None:
    first, *others = load_experiment(recovery.EXPERIMENT).runs(QUICK)
    write_run(shipped_records(recovery.EXPERIMENT, experiments) / "one", first)
    selection = experiment_to_show(recovery.EXPERIMENT, results, experiments)
    assert [each.run.plan for each in selection.done] == [first.plan]
    message = "\n".join(selection.sentences)
    assert "1 of 9 runs" in message
    for run in others:
        assert f"{run.request.path} {run.request.stack}" in message
        assert f"drop {run.request.drop}" in message


def test_of_many_that_are_missing_the_first_are_named(
    results: FilePath, experiments: FilePath
) -> None:
    runs = load_experiment("response-function").runs(WHOLE)
    write_run(results / "companion" / "one", runs[0])
    selection = experiment_to_show("response-function", results, experiments)
    assert "1 of 108 runs" in selection.sentences[0]
    assert selection.sentences[1].endswith("; and 95 others.")


@pytest.mark.parametrize("folder", ["companion", NAME])
def test_the_readers_own_go_before_shipped_ones_wherever_a_campaign_put_them(
    results: FilePath, experiments: FilePath, folder: str
) -> None:
    write_runs(shipped_records(NAME, experiments), NAME, WHOLE)
    (own,) = write_runs(results / folder, NAME, slower=2)
    selection = experiment_to_show(NAME, results, experiments)
    assert selection.sentences == (f"Your own records, the quick set: 1 of 1 runs of {NAME}.",)
    assert [each.record.directory for each in selection.done] == [own.directory]


def test_the_readers_whole_set_goes_before_his_quick_one(
    results: FilePath, experiments: FilePath
) -> None:
    write_runs(results / "companion", NAME)
    write_runs(results / NAME, NAME, WHOLE)
    selection = experiment_to_show(NAME, results, experiments)
    assert selection.sentences == (f"Your own records, the whole campaign: 2 of 2 runs of {NAME}.",)


def test_runs_that_are_in_both_sets_do_not_make_a_quick_set_a_whole_one(
    results: FilePath, experiments: FilePath
) -> None:
    write_runs(results / "companion", recovery.EXPERIMENT)
    selection = experiment_to_show(recovery.EXPERIMENT, results, experiments)
    assert "the quick set: 9 of 9 runs" in selection.sentences[0]


def test_a_run_of_ones_own_set_that_the_project_ships_is_not_missing(
    results: FilePath, experiments: FilePath
) -> None:
    first, second = load_experiment(NAME).runs(WHOLE)
    write_run(results / "companion" / "first", first)
    write_run(shipped_records(NAME, experiments) / "second", second)
    selection = experiment_to_show(NAME, results, experiments)
    assert selection.sentences == (f"Your own records, the whole campaign: 2 of 2 runs of {NAME}.",)


def test_of_two_records_of_one_run_the_later_counts(
    results: FilePath, experiments: FilePath
) -> None:
    (run,) = load_experiment(NAME).runs(QUICK)
    older, newer = (write_run(results / NAME / name, run) for name in ("b-older", "a-newer"))
    os.utime(older.directory / "record.json", (0, 0))
    (each,) = experiment_to_show(NAME, results, experiments).done
    assert each.record.directory == newer.directory


def test_records_of_two_kernels_are_said_to_be_mixed(
    results: FilePath, experiments: FilePath
) -> None:
    first, second = load_experiment(NAME).runs(WHOLE)
    write_run(results / NAME / "first", first, kernel="7.2.1")
    write_run(results / NAME / "second", second, kernel="7.3")
    selection = experiment_to_show(NAME, results, experiments)
    assert "MIXED: kernels 7.2.1, 7.3." in selection.sentences


def test_measures_that_are_shipped_with_the_whole_set_are_those_shown(
    results: FilePath, experiments: FilePath
) -> None:
    write_runs(shipped_records(NAME, experiments), NAME, WHOLE)
    made = experiment_to_show(NAME, results, experiments).measures
    changed = [dataclasses.replace(measure, value=measure.value + 1) for measure in made]
    write_measures(changed, experiment_folder(NAME, experiments) / MEASURES_FILE)
    assert experiment_to_show(NAME, results, experiments).measures == tuple(changed)
    write_runs(results / NAME, NAME, WHOLE)
    assert experiment_to_show(NAME, results, experiments).measures == made


def test_measures_are_shown_where_their_records_are_not_shipped(
    results: FilePath, experiments: FilePath
) -> None:
    write_runs(shipped_records(NAME, experiments), NAME, WHOLE)
    made = experiment_to_show(NAME, results, experiments).measures
    write_measures(made, experiment_folder(NAME, experiments) / MEASURES_FILE)
    shutil.rmtree(shipped_records(NAME, experiments))
    selection = experiment_to_show(NAME, results, experiments)
    assert selection.sentences[0] == (
        f"The measures that farpath ships, without records: 0 of 2 runs of {NAME}."
    )
    assert selection.measures == made
    assert selection.closest_run(path="mb-ng-cbr") is None


def test_a_record_that_was_changed_is_named_and_left_out(
    results: FilePath, experiments: FilePath
) -> None:
    first, second = load_experiment(NAME).runs(WHOLE)
    write_run(results / NAME / "good", first)
    bad = write_run(results / NAME / "bad", second).directory / "flows.parquet"
    bad.write_bytes(bad.read_bytes()[:100])
    selection = experiment_to_show(NAME, results, experiments)
    assert [run.plan for run in selection.missing] == [second.plan]
    assert selection.sentences[-1].startswith("Left out: ")
    assert "/bad" in selection.sentences[-1]


@pytest.mark.parametrize("file", ["record.json", "flows.parquet"])
def test_own_records_that_are_all_damaged_are_not_hidden_by_shipped_ones(
    results: FilePath, experiments: FilePath, file: str
) -> None:
    write_runs(shipped_records(NAME, experiments), NAME, WHOLE)
    (mine,) = write_runs(results / NAME, NAME)
    (mine.directory / file).write_text("{")
    with pytest.raises(
        BadInputError, match=r"Your own records.*none can be read: .*repeat the run"
    ):
        experiment_to_show(NAME, results, experiments)


def test_a_run_is_chosen_by_what_was_asked_of_it(results: FilePath, experiments: FilePath) -> None:
    name = inter_protocol.EXPERIMENT
    write_runs(results / name, name)
    selection = experiment_to_show(name, results, experiments)
    chosen = selection.closest_run(stack="htcp_2004", path="shared-reordering")
    assert chosen is not None
    assert chosen.run.request.path == "shared-reordering"
    # None of the runs was asked both
    other = selection.closest_run(stack="htcp_2004+htcp_2004", schedule="joining", path="elsewhere")
    assert other is not None
    assert other.run.request.schedule == "joining"


def test_reordering_is_told_from_traffic_the_other_way(
    results: FilePath, experiments: FilePath
) -> None:
    name = inter_protocol.EXPERIMENT
    write_runs(results / name, name)
    selection = experiment_to_show(name, results, experiments)
    alone = select_measures(selection.measures, inter_protocol.UTILISATION, stack="htcp_2004")
    assert [measure.condition for measure in alone] == [
        "htcp_2004, reverse reno_2004",
        "htcp_2004, reorder 0.001",
    ]
