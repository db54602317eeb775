"""Records to show: the reader's own first, then what the project ships."""

from __future__ import annotations

import json
import shutil
from pathlib import Path as FilePath
from typing import Any

import pytest

from experiments.seven_regions.selection import EXPERIMENT as PAPER
from experiments.seven_regions.selection import RecordSelection, records_of, records_to_show
from farpath.base.errors import BadInputError
from farpath.base.project import experiment_folder
from farpath.record.description import write_description
from farpath.record.record import RECORD_FILE
from farpath.runs.experiment import FILE, OWN_PATHS, load_experiment
from tests.support.campaigns import write_seven_regions

QUICK_S, WHOLE_S = 30.0, 120.0


@pytest.fixture
def experiments(tmp_path: FilePath) -> FilePath:
    """Experiments with the project's seven regions, of which nothing is shipped."""
    folder = tmp_path / "experiments" / PAPER
    folder.mkdir(parents=True)
    shutil.copy(experiment_folder(PAPER) / FILE, folder)
    shutil.copytree(experiment_folder(PAPER) / OWN_PATHS, folder / OWN_PATHS)
    return folder.parent


@pytest.fixture
def results(tmp_path: FilePath) -> FilePath:
    return tmp_path / "results"


def ship(experiments: FilePath, name: str, region_s: float, **more: Any) -> FilePath:
    record_dir = experiments / PAPER / "records" / name
    write_seven_regions(record_dir, region_s=region_s, **more)
    return record_dir


def names(selection: RecordSelection) -> set[str]:
    return {run.record for run in selection.campaign.runs}


def test_without_any_record_one_line_names_the_command_that_makes_some(
    results: FilePath, experiments: FilePath
) -> None:
    with pytest.raises(BadInputError) as refused:
        records_to_show(results, experiments)
    assert "make campaign SET=quick" in refused.value.message
    assert str(results) in refused.value.message
    assert "\n" not in refused.value.message


def test_the_shipped_quick_set_is_shown_and_says_so(
    results: FilePath, experiments: FilePath
) -> None:
    ship(experiments, "quick", QUICK_S)
    selection = records_to_show(results, experiments)
    assert names(selection) == {"quick"}
    assert selection.sentences == (
        "The records that farpath ships, the quick set, of earlier settings: 1 runs, "
        "1 stacks on cern, seed 1.",
        "Published with regions of 120 s, measured with 30 s.",
    )


def test_columns_on_cpu_are_of_the_readers_own_runs_or_else_of_shipped_ones(
    results: FilePath, experiments: FilePath
) -> None:
    ship(experiments, "quick", QUICK_S)
    assert records_to_show(results, experiments).campaign.cpu_runs == ()
    write_seven_regions(experiments / PAPER / "cpu-records" / "shipped", region_s=5.0)
    selection = records_to_show(results, experiments)
    assert [run.record for run in selection.campaign.cpu_runs] == ["shipped"]
    assert names(selection) == {"quick"}
    write_seven_regions(results / "paper" / "cpu-records" / "own", region_s=5.0)
    selection = records_to_show(results, experiments)
    assert [run.record for run in selection.campaign.cpu_runs] == ["own"]


def test_the_shipped_whole_campaign_goes_before_the_quick_set_beside_it(
    results: FilePath, experiments: FilePath
) -> None:
    ship(experiments, "quick", QUICK_S)
    ship(experiments, "whole", WHOLE_S)
    ship(experiments, "whole-2", WHOLE_S, seed=2)
    selection = records_to_show(results, experiments)
    assert names(selection) == {"whole", "whole-2"}
    assert selection.seeds == (1, 2)
    assert "the whole campaign" in selection.sentences[0]


def test_records_of_runs_as_they_are_now_are_not_mixed_with_earlier_ones(
    results: FilePath, experiments: FilePath
) -> None:
    run = load_experiment(PAPER).runs("quick")[0]
    ship(experiments, "earlier", QUICK_S)
    record = ship(experiments, "now", QUICK_S) / RECORD_FILE
    data = json.loads(record.read_text())
    write_description(record, {**data, "plan": run.plan.as_dict()})
    selection = records_to_show(results, experiments)
    assert names(selection) == {"now"}
    assert selection.origin == "The records that farpath ships, the quick set"


def test_a_shipped_record_of_no_set_is_not_shown(results: FilePath, experiments: FilePath) -> None:
    ship(experiments, "other-length", 10.0)
    ship(experiments, "other-seed", QUICK_S, seed=7)
    with pytest.raises(BadInputError, match="no records to show"):
        records_to_show(results, experiments)


@pytest.mark.parametrize(
    ("made", "command"), [("paper", "make paper"), ("paper-quick", "make campaign SET=quick")]
)
def test_the_readers_own_records_go_before_shipped_ones(
    results: FilePath, experiments: FilePath, made: str, command: str
) -> None:
    ship(experiments, "whole", WHOLE_S)
    write_seven_regions(results / made / "records" / "mine")
    selection = records_to_show(results, experiments)
    assert names(selection) == {"mine"}
    assert selection.sentences[0].startswith(f"Your own records, of '{command}': 1 runs")


def test_the_readers_whole_campaign_goes_before_his_quick_one(
    results: FilePath, experiments: FilePath
) -> None:
    for made in ("paper", "paper-quick"):
        write_seven_regions(results / made / "records" / made)
    assert names(records_to_show(results, experiments)) == {"paper"}


def test_a_record_that_was_changed_is_named_and_left_out(
    results: FilePath, experiments: FilePath
) -> None:
    ship(experiments, "good", QUICK_S)
    file = ship(experiments, "changed", QUICK_S, stack="fast") / "flows.parquet"
    file.write_bytes(file.read_bytes()[:100])
    planless = ship(experiments, "planless", QUICK_S, stack="ltcp") / RECORD_FILE
    planless.write_text(json.dumps({**json.loads(planless.read_text()), "plan": {}}))
    newer = ship(experiments, "newer", QUICK_S, stack="bic_2004") / RECORD_FILE
    newer.write_text(json.dumps({**json.loads(newer.read_text()), "format_version": 99}))
    selection = records_to_show(results, experiments)
    assert names(selection) == {"good"}
    lines = [line for line in selection.sentences if line.startswith("Left out: ")]
    assert len(lines) == 3
    for name in ("changed", "planless", "newer"):
        assert sum(f"/{name}" in line for line in lines) == 1


def test_a_link_of_a_campaign_that_leads_nowhere_is_named(
    results: FilePath, experiments: FilePath
) -> None:
    own = results / "paper" / "records"
    write_seven_regions(own / "mine")
    (own / "lost").symlink_to(results / "gone")
    selection = records_to_show(results, experiments)
    assert selection.problems == (f"{own / 'lost'}: leads nowhere: run 'make paper' again",)


def test_own_records_that_are_all_damaged_are_not_hidden_by_shipped_ones(
    results: FilePath, experiments: FilePath
) -> None:
    ship(experiments, "good", QUICK_S)
    mine = write_seven_regions(results / "paper" / "records" / "mine").directory
    (mine / RECORD_FILE).write_text("{")
    with pytest.raises(BadInputError, match=r"none can be read: .*mine.*is not JSON"):
        records_to_show(results, experiments)


def test_a_record_is_found_by_label_and_by_the_papers_name(results: FilePath) -> None:
    write_seven_regions(results / "a", "htcp_2004", seed=2)
    write_seven_regions(results / "b", "htcp_2004", seed=3)
    selection = records_of(results)
    assert selection.record("HTCP").directory == results / "a"
    assert selection.record("htcp_2004", "cern", seed=3).directory == results / "b"
    with pytest.raises(BadInputError) as refused:
        selection.run("Reno", "cern", 2)
    for word in ("Reno", "cern with seed 2", "htcp_2004", "seeds 2, 3"):
        assert word in refused.value.message


def test_a_directory_without_records_is_refused(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="none can be read"):
        records_of(tmp_path / "nowhere")
