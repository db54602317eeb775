"""The short form of every experiment around the 2005 test."""

from __future__ import annotations

import pytest

from experiments.loss_utilisation.analysis import UTILISATION
from farpath.metrics.measures import select_measures
from farpath.record.record import RECORD_FILE
from farpath.runs.claims import HOLDS, UNDECIDED
from farpath.runs.claims.claim_rules import measure_rules
from farpath.runs.experiment import QUICK, load_experiment
from farpath.runs.job import CampaignJob
from tests.companion.conftest import QuickCompanion
from tests.support.study_runs import ANALYSES

#: What theory asks of any length of run.
THEORY = ("C23", "C24", "C28")
#: What the short form leaves open: how two flows share, and a window under random losses, hang on
#: chance, and it has neither FAST's recovery, nor a second path of the tuned hosts, UDT at 10
#: Gbit/s, or CPU.
OPEN = {"C19", "C21", "C25", "C26", "C37", "C38", "C39", "C40", "C42"}
#: What no run of the lab decides.
CLOSED = {"C20", "C45", "C46", "C47", "C48"}


@pytest.mark.parametrize("experiment", ANALYSES)
def test_every_experiment_is_measured_and_has_a_table(
    quick: QuickCompanion, experiment: str
) -> None:
    assert [measure for measure in quick.measures if measure.experiment == experiment]
    assert (quick.report / "tables" / f"{experiment}.md").is_file()


def test_claims_are_decided_but_those_that_need_more_runs(quick: QuickCompanion) -> None:
    states = {claim: quick.claims[claim]["state"] for claim in quick.claims}
    print((quick.report / "claims" / "claims.txt").read_text())
    assert set(states) == set(measure_rules())
    assert {claim for claim, state in states.items() if state == UNDECIDED} == OPEN | CLOSED


@pytest.mark.parametrize("claim", THEORY)
def test_what_theory_asks_holds(quick: QuickCompanion, claim: str) -> None:
    assert quick.claims[claim]["state"] == HOLDS


def test_a_loss_costs_the_long_path_more_than_the_short_one(quick: QuickCompanion) -> None:
    (lan,) = select_measures(quick.measures, UTILISATION, path="lan")
    (wan,) = select_measures(quick.measures, UTILISATION, path="wan")
    assert wan.value < 0.1 * lan.value


@pytest.mark.parametrize("experiment", ANALYSES)
def test_every_experiment_has_a_figure(quick: QuickCompanion, experiment: str) -> None:
    # Recovery has one for each path
    assert list((quick.report / "figures").glob(f"{experiment}*.svg"))


def test_a_second_time_no_run_is_made_and_the_measures_are_the_same(quick: QuickCompanion) -> None:
    # Two are of the whole set too: where the lab is as it was, its shipped records are taken
    states = CampaignJob(load_experiment("companion"), QUICK, quick.records).states()
    assert all(state.record for state in states)
    before = {file: file.stat().st_mtime_ns for file in quick.records.glob("*/record.json")}
    text = (quick.report / "measures.json").read_bytes()
    done = quick.again()
    assert done.returncode == 0, done.stderr[-3000:]
    after = {file: file.stat().st_mtime_ns for file in quick.records.glob("*/record.json")}
    assert before == after
    assert set(before) <= {state.record / RECORD_FILE for state in states if state.record}
    assert (quick.report / "measures.json").read_bytes() == text
