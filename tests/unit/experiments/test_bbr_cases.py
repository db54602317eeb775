"""BBR's example test cases: which case a run is of, and what is measured of it."""

from __future__ import annotations

from pathlib import Path as FilePath

from experiments.bbr_cases import analysis, figure
from farpath.runs.experiment import QUICK, WHOLE, load_experiment
from tests.support.study_measures import measure
from tests.support.study_runs import write_recorded_runs

CASES = {
    analysis.STARTUP,
    analysis.RISE,
    analysis.FALL,
    analysis.SUB_PACKET,
    analysis.POLICER,
    analysis.REORDERING,
    "random loss 1 %",
    "random loss 3 %",
}


def test_each_run_is_of_a_case_that_all_stacks_have_with_three_seeds() -> None:
    plans = [run.plan for run in load_experiment(analysis.EXPERIMENT).runs(WHOLE)]
    by_case = {case: [plan for plan in plans if analysis.case_of(plan) == case] for case in CASES}
    assert {len(each) for each in by_case.values()} == {4 * 3}
    assert len(plans) == 4 * 3 * len(CASES)


def test_each_case_has_utilisation_queue_and_what_its_draft_asks_for(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, analysis.EXPERIMENT, QUICK)
    found = analysis.measures(done)
    own = {
        analysis.RISE: {analysis.RECOVERY},
        analysis.FALL: {analysis.STABILISATION},
        analysis.POLICER: {analysis.LOSS_RATE},
    }
    for case in {each.about["case"] for each in found}:
        quantities = {each.quantity for each in found if each.about["case"] == case}
        assert quantities == {analysis.UTILISATION, analysis.QUEUE} | own.get(case, set())
    assert all(each.theory == 1 for each in found if each.quantity == analysis.UTILISATION)


def test_the_figure_has_each_stack_in_each_case() -> None:
    known = [
        measure(analysis.EXPERIMENT, quantity, value, about={"case": case, "stack": stack})
        for quantity in figure.HEADINGS
        for case in sorted(CASES)
        for stack, value in (("bbr", 0.9), ("bbr3", 0.8))
    ]
    ((name, drawn),) = figure.figures(known, [])
    assert name == analysis.EXPERIMENT
    for axes in drawn.axes:
        places = {each.get_label(): list(each[0].get_xdata()) for each in axes.containers}
        assert set(places) == {"bbr", "bbr3"}
        assert len(places["bbr"]) == len(CASES)
        assert all(0 < b - a < 1 for a, b in zip(places["bbr"], places["bbr3"], strict=True))
