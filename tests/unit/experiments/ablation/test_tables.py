"""Tables of an ablation: what they say and say again, in text and as data."""

from __future__ import annotations

import dataclasses

from experiments.ablation.analysis import ABLATION, Ablation
from experiments.ablation.tables import ablation_tables
from farpath.report.table import TEXT_COLUMNS, Table, as_csv, as_text
from farpath.runs.experiment import QUICK, ExperimentPart, load_experiment
from tests.support.ablations import ablation_of, halved


def tables(ablation: Ablation) -> dict[str, Table]:
    return {table.name: table for table in ablation_tables(ablation)}


def row(table: Table, first: str) -> tuple[str, ...]:
    (found,) = [row for row in table.lines if row[0] == first]
    return found


def test_there_is_one_for_each_quantity_and_two_on_all_of_them() -> None:
    assert list(tables(ablation_of())) == [
        "ablation-mean_mbps", "ablation-stability", "ablation-fairness_min",
        "ablation-rtt_std_ms", "ablation-agreement", "ablation-settings",
    ]  # fmt: skip


def test_every_title_but_that_of_the_settings_says_path_regions_and_seeds() -> None:
    *of_values, settings = ablation_tables(ablation_of())
    for table in of_values:
        assert table.title.endswith("path cern, regions of 120 s, 3 seeds")
    short = load_experiment(ABLATION, part=ExperimentPart("30s"))
    (first, *_) = ablation_tables(ablation_of(which=QUICK, experiment=short))
    assert first.title.endswith("path cern, regions of 30 s, 1 seed")
    assert settings.title == "Mechanisms and their settings in full"


def test_a_stack_that_a_mechanism_is_not_of_has_the_base_s_value_once() -> None:
    table = tables(ablation_of(halved("fast", "fast")))["ablation-mean_mbps"]
    assert row(table, "published")[1:6] == ("248", "255", "402", "423", "335")
    assert row(table, "base")[5] == "335±0"
    assert row(table, "fast")[1:] == ("=", "=", "=", "=", "168±0", "=", "=", "=", "=")
    assert "not of this stack" in table.note
    values = {(line[0], line[1]): line[3] for line in table.data}
    assert values["fast", "Reno"] == values["base", "Reno"] == 248.0


def test_all_nine_stacks_stand_beside_each_other_in_a_terminal() -> None:
    for table in ablation_tables(ablation_of()):
        lines = as_text(table).splitlines()
        assert max(map(len, lines)) <= TEXT_COLUMNS
        assert not any("…" in line for line in lines)
    text = as_text(tables(ablation_of())["ablation-stability"])
    (base,) = [line for line in text.splitlines() if line.strip().startswith("base ")]
    assert base.count("±") == 9


def test_the_agreement_names_the_claims_that_change() -> None:
    table = tables(ablation_of(halved("quiet", "htcp_2004")))["ablation-agreement"]
    assert row(table, "base")[1:4] == ("1.00", "0", "0.00")
    assert row(table, "base")[-1] == "-"
    assert row(table, "queue")[-1] == "none"
    base, quiet = (
        [int(count) for count in row(table, name)[-2].split(",")] for name in ("base", "quiet")
    )
    changed = quiet[1] - base[1]
    assert changed > 1
    assert quiet == [base[0] - changed, base[1] + changed, base[2]]
    assert "C11, C12" in row(table, "quiet")[-1]
    assert "holds → fails" in row(table, "quiet")[-1]
    assert row(table, "quiet")[2] == "22"


def test_a_part_of_the_stacks_is_said_to_be_one() -> None:
    whole = ablation_of()
    part = dataclasses.replace(whole, runs=tuple(r for r in whole.runs if r.stack != "udt"))
    table = tables(part)["ablation-agreement"]
    assert table.note.startswith("Not all of the nine stacks were run.")
    assert row(table, "base")[1] == "-"
    assert row(tables(part)["ablation-stability"], "base")[-1] == "-"


def test_runs_of_different_code_are_marked() -> None:
    ablation = ablation_of()
    assert ablation.mixtures == ()
    first, *others = ablation.runs
    older = dataclasses.replace(first, run=dataclasses.replace(first.run, code="older"))
    mixed = dataclasses.replace(ablation, runs=(older, *others))
    note = tables(mixed)["ablation-agreement"].note
    assert note.startswith("MIXED: records of different code are mixed: code: 248 records; older: ")


def test_settings_are_said_in_full() -> None:
    table = tables(ablation_of())["ablation-settings"]
    name, _title, settings, single = row(table, "queue")
    assert name == "queue"
    assert "txqueuelen 100, ring 256, cpu none" in settings
    assert "scalable_2004: txqueuelen 2000" in single
    csv = as_csv(table).splitlines()
    assert csv[0] == "mechanism,title,settings,settings_of_stacks"
    assert len(csv) == 1 + len(load_experiment(ABLATION).mechanisms)
