"""The maker of run sets: what it makes, measures, keeps and says, without a lab."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, LabFailedError
from farpath.lab.run import Outcome
from farpath.planning.request import RunRequest
from farpath.record.record import Record
from farpath.runs.make import FailedRun, MadeRun, RunEvent, make_runs
from farpath.runs.run_set import START_COST_S, PlannedRun, RunSet, planned_run, product_set
from farpath.runs.run_set_progress import progress_printer
from tests.support.lesson_runs import write_lesson_run

BASE = RunRequest(rtt="20ms", rate="20Mbit", time="5s")


def make(run: PlannedRun, out: FilePath, cores: int) -> Outcome:
    """A lab in which runs of 30 ms fail, and others have their record at once."""
    if run.values["rtt"] == "30ms":
        raise LabFailedError("the guest hangs", "the console's end")
    place = out / run.values["rtt"]
    is_there = place.exists()
    if not is_there:
        write_lesson_run(place, run.plan)
    return Outcome(place, is_there, 1.0)


def rtt_ms(record: Record) -> float:
    return record.plan.path.rtt_ms


def test_runs_are_measured_once_and_what_fails_keeps_no_other_from_being_made(
    tmp_path: FilePath, capsys: pytest.CaptureFixture[str]
) -> None:
    run_set = product_set(BASE, {"rtt": ("20ms", "30ms", "40ms")})
    seen: list[RunEvent[float]] = []
    for is_there in (False, True):
        made = make_runs(run_set, tmp_path, 2, seen.append, measure=rtt_ms, make=make)
        assert [type(result) for result in made.results] == [MadeRun, FailedRun, MadeRun]
        assert [each.value for each in made.runs] == [20.0, 40.0]
        assert [each.cached for each in made.runs] == [is_there] * 2
        assert made.failures() == {"rtt=30ms, seed 1": "the guest hangs"}
        assert "1 of 3 runs failed; what was made is kept" in made.failed_error().message
    assert sum(event.result is not None for event in seen) == 6
    watch = progress_printer("sweep", before=2)
    make_runs(run_set, tmp_path, 1, watch, measure=[rtt_ms] * 3, make=make)
    said = capsys.readouterr().err.splitlines()
    assert "sweep: rtt=30ms, seed 1 failed: the guest hangs" in said
    assert said[-1] == "sweep: 4 of 5 runs made, 0 running, 1 failed, 0 left"


def test_an_error_that_is_fatal_ends_the_set(tmp_path: FilePath) -> None:
    run_set = product_set(BASE, {"rtt": ("30ms",)})
    with pytest.raises(LabFailedError, match="the guest hangs"):
        make_runs(run_set, tmp_path, 1, measure=rtt_ms, make=make, fatal=(LabFailedError,))


def test_a_run_costs_its_bits_and_the_start_of_its_guest_unless_its_time_is_known() -> None:
    long = planned_run("long", RunRequest(rtt="20ms", rate="100Mbit", time="50s"))
    assert long.cost_s == START_COST_S + 50
    assert PlannedRun("known", long.plan, expected_s=7.0).cost_s == 7.0


def test_two_runs_that_are_the_same_are_refused_unless_their_kernels_differ() -> None:
    plan = planned_run("one", BASE).plan
    RunSet((PlannedRun("one", plan), PlannedRun("one", plan, kernel="7.3")))
    with pytest.raises(BadInputError, match="'one' and 'other' are the same run"):
        RunSet((PlannedRun("one", plan), PlannedRun("other", plan)))
