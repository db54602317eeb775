"""The lines below the tables of an interop's results."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

from farpath.base.errors import LabFailedError
from farpath.runs.make import FailedRun, MadeRun, MadeSet
from farpath.runs.run_set import PlannedRun, RunSet
from farpath.spec.plan import Plan
from farpath.uses.interop.table import reasons
from farpath.uses.interop.verdict import FAILED, PASSED, UNSUPPORTED, CaseResult


def test_each_failed_case_has_a_line_and_what_the_lab_did_not_finish_is_left_to_the_error(
    plan: Plan,
) -> None:
    outcomes = {"retry": FAILED, "transfer": PASSED, "http3": UNSUPPORTED}
    runs = [
        PlannedRun(name, dataclasses.replace(plan, seed=seed))
        for seed, name in enumerate((*outcomes, "longrtt"), start=1)
    ]
    results: list[MadeRun[CaseResult] | FailedRun] = [
        MadeRun(run, FilePath(), "", CaseResult(outcome, f"because of {run.name}", 1.0))
        for run, outcome in zip(runs, outcomes.values(), strict=False)
    ]
    results.append(FailedRun(runs[-1], LabFailedError("the lab hangs")))
    made = MadeSet(RunSet(tuple(runs)), FilePath(), tuple(results))
    assert reasons(made) == "retry: because of retry\n"
    assert "longrtt: the lab hangs" in made.failed_error().detail
