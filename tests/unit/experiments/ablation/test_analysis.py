"""Ablations: what mechanisms do to all stacks, which claims change, and the file that keeps it."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path as FilePath

import pytest

from experiments.ablation.analysis import (
    ABLATION,
    BASE,
    Ablation,
    ablation_of,
    decided_at_cern,
    read_ablation,
    write_ablation,
)
from experiments.seven_regions.distances import mean_distance, rank_correlation
from experiments.seven_regions.paper_columns import FAIRNESS, LAB_COLUMNS, MEAN, STABILITY
from farpath.base.errors import BadInputError
from farpath.metrics.results import result_set_of
from farpath.metrics.run import Summary
from farpath.runs.claims import FAILS, HOLDS
from farpath.runs.experiment import QUICK, RecordedRun, WantedRun, load_experiment
from tests.support import ablations
from tests.support.campaigns import published_campaign, write_seven_regions


def test_published_figures_rank_alike_and_are_nowhere_off() -> None:
    ablation = ablations.ablation_of()
    assert list(ablation.results) == list(load_experiment(ABLATION).mechanisms)
    for mechanism in ablation.results:
        score = ablation.score(mechanism)
        assert score.rank_correlation == pytest.approx(1.0)
        assert score.distances == pytest.approx({each.key: 0.0 for each in LAB_COLUMNS}, abs=1e-9)
        assert (score.stacks, score.changes) == (9, {})


def test_a_mechanism_s_result_is_the_mean_over_its_seeds_with_their_spread() -> None:
    def change(wanted: WantedRun, summary: Summary) -> Summary:
        return dataclasses.replace(summary, stability=0.1 * wanted.plan.seed)

    value = ablations.ablation_of(change).of("queue", "HTCP", STABILITY)
    assert value.mean == pytest.approx(0.2)
    assert value.half_width == pytest.approx(0.248, abs=1e-3)
    assert value.count == 3


def test_a_mechanism_of_one_stack_shares_the_others_runs_with_the_base() -> None:
    ablation = ablations.ablation_of(ablations.halved("fast", "fast"))
    assert ablation.of("fast", "Fast-TCP", MEAN).mean == pytest.approx(335 / 2)
    assert ablation.of(BASE, "Fast-TCP", MEAN).mean == pytest.approx(335)
    assert ablation.of("fast", "Reno", MEAN) == ablation.of(BASE, "Reno", MEAN)
    assert ablation.changes("fast", "Fast-TCP")
    assert not ablation.changes("fast", "Reno")
    assert not ablation.changes(BASE, "Reno")
    assert ablation.changes("quiet", "Reno")


def test_the_distance_is_the_mean_over_the_stacks() -> None:
    ablation = ablations.ablation_of(ablations.halved("quiet", "htcp_2004"))
    assert ablation.score("quiet").distances[MEAN.key] == pytest.approx(201 / 9)
    assert ablation.score("quiet").distances[FAIRNESS.key] == pytest.approx(0, abs=1e-9)
    assert ablation.score("quiet").rank_correlation < 0.9
    assert ablation.score(BASE).distances[MEAN.key] == pytest.approx(0)


def test_claims_that_change_are_named_with_both_states() -> None:
    ablation = ablations.ablation_of(ablations.halved("quiet", "htcp_2004"))
    score = ablation.score("quiet")
    # H-TCP is one of the three best, and UDT compares with it
    assert score.changes["C12"] == (HOLDS, FAILS)
    assert score.changes["C11"] == (HOLDS, FAILS)
    assert score.holding == ablation.score(BASE).holding - len(score.changes)
    assert ablation.score("queue").changes == {}


def test_only_claims_that_runs_at_cern_decide_are_judged() -> None:
    decided = set(decided_at_cern(published_campaign(paths=("cern",))))
    assert {"C1", "C9", "C10", "C13", "C16", "C35", "C36"} <= decided
    # Other paths, companion experiments, CPU
    cpu_free = ablations.ablation_of(
        lambda _, summary: dataclasses.replace(summary, cpu_percent=None, mhz_per_mbps=None)
    )
    of_base = set(cpu_free.verdicts[BASE])
    assert not of_base & {"C2", "C3", "C4", "C17", "C18", "C21", "C27"}


def test_without_all_nine_stacks_there_is_no_rank_correlation() -> None:
    whole = ablations.ablation_of()
    part = dataclasses.replace(whole, runs=tuple(r for r in whole.runs if r.stack != "udt"))
    score = part.score(BASE)
    assert math.isnan(score.rank_correlation)
    assert score.stacks == 8
    assert score.distances[MEAN.key] == pytest.approx(0)
    empty = result_set_of(())
    assert math.isnan(rank_correlation(empty))
    assert math.isnan(mean_distance(empty, MEAN))


def test_without_the_base_no_claim_changes() -> None:
    whole = ablations.ablation_of(ablations.halved("quiet", "htcp_2004"))
    part = dataclasses.replace(whole, runs=whole.runs_of("quiet"))
    assert list(part.results) == ["quiet"]
    assert part.score("quiet").changes == {}
    assert part.changes("quiet", "HTCP")


def test_settings_are_in_full_and_those_of_single_stacks_apart() -> None:
    common, single = ablations.ablation_of().settings_of("queue")
    assert common == {
        "path": "cern-as-was",
        "window": "16MiB",
        "era": "2004",
        "txqueuelen": "100",
        "ring": "256",
        "cpu": "none",
        "recovery": "today",
    }
    assert single == {
        "scalable_2004": {"txqueuelen": "2000"},
        "fast": {"alpha": "200", "period_rtts": "1", "mi_once": "0"},
        "hstcp_lp": {"tick_ms": "1", "range_reset": "0"},
    }


def test_the_file_keeps_everything_and_equal_ablations_give_equal_bytes(
    tmp_path: FilePath,
) -> None:
    ablation = ablations.ablation_of(ablations.halved("all", "udt"))
    for name in ("one.json", "two.json"):
        write_ablation(ablation, tmp_path / name)
    assert read_ablation(tmp_path / "one.json") == ablation
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


@pytest.mark.parametrize(
    ("valid", "wrong", "complaint"),
    [
        ('"format_version":1', '"format_version":9', "version"),
        ('"mechanisms":["base"', '"mechanisms":["nothing"', "nothing is none of its mechanisms"),
        ('"stack":"udt"', '"stuck":"udt"', "is damaged ('stack')"),
        ('"runs":[', '"rows":[', "is damaged ('runs')"),
    ],
)
def test_a_file_that_is_no_ablation_is_refused_in_one_line(
    tmp_path: FilePath, valid: str, wrong: str, complaint: str
) -> None:
    file = tmp_path / "ablation.json"
    write_ablation(ablations.ablation_of(), file)
    text = file.read_text()
    assert valid in text
    file.write_text(text.replace(valid, wrong))
    with pytest.raises(BadInputError) as refused:
        read_ablation(file)
    assert complaint in refused.value.message
    assert "make campaign EXPERIMENT=ablation" in refused.value.message
    assert "\n" not in refused.value.message


def recorded(folder: FilePath, runs: list[WantedRun]) -> list[RecordedRun]:
    return [
        RecordedRun(
            run,
            write_seven_regions(
                folder / str(index), run.plan.stacks[0].label, run.plan.seed, path=run.plan.path
            ),
        )
        for index, run in enumerate(runs)
    ]


def of_stack(stack: str, *mechanisms: str) -> list[WantedRun]:
    runs = load_experiment(ABLATION).runs(QUICK)
    return [
        run
        for run in runs
        if run.plan.stacks[0].name == stack and set(run.mechanisms) & set(mechanisms)
    ]


def test_records_are_summarised_as_runs_of_the_paper_s_stacks_on_its_path(
    tmp_path: FilePath,
) -> None:
    done = recorded(tmp_path, of_stack("fast", BASE, "fast", "window"))
    ablation: Ablation = ablation_of(load_experiment(ABLATION), done)
    assert list(ablation.mechanisms) == [BASE, "fast", "window"]
    labels = {each.run.stack for each in ablation.runs}
    assert "fast:alpha=-1,mi_once=1,period_rtts=2" in labels
    for mechanism in ablation.mechanisms:
        assert ablation.of(mechanism, "Fast-TCP", MEAN).count == 1


def test_a_mechanism_is_there_once_a_run_of_its_own_is(tmp_path: FilePath) -> None:
    # The base's Reno is also that of the mechanisms of FAST and of HSTCP-LP
    done = recorded(tmp_path, of_stack("reno_2004", BASE, "quiet"))
    assert "fast" in done[0].run.mechanisms
    ablation = ablation_of(load_experiment(ABLATION), done)
    assert list(ablation.mechanisms) == [BASE, "quiet"]
    assert {name for each in ablation.runs for name in each.mechanisms} == {BASE, "quiet"}
