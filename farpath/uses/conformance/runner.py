"""The runner of scenarios: several runs at once, each judged by its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path as FilePath

from farpath.lab.artifacts.images import Images
from farpath.record.record import Record
from farpath.runs.make import FailedRun, make_runs
from farpath.runs.progress import progress_printer
from farpath.runs.run_set import PlannedRun, RunSet
from farpath.uses.conformance.scenario_measures import MEASURES
from farpath.uses.conformance.scenarios import Scenario
from farpath.uses.conformance.verdict import Verdict, failed, judge


@dataclass(frozen=True)
class Conformance:
    """The verdicts on a stack on a kernel, and the records of its scenarios by their names."""

    stack: str
    kernel: str
    verdicts: tuple[Verdict, ...]
    records: Mapping[str, FilePath]


def judged(scenario: Scenario, record: Record) -> list[Verdict]:
    """Judge a scenario's statements by its record."""
    return [
        judge(scenario, statement, MEASURES[statement.measure](record))
        for statement in scenario.statements
    ]


def run_scenarios(
    scenarios: Sequence[Scenario],
    runs: Sequence[PlannedRun],
    stack: str,
    kernel: str,
    images: Images,
    out: FilePath,
    at_once: int,
) -> Conformance:
    """Run scenarios on a kernel, several at once, and judge them; print progress.

    ``runs``: those of the scenarios. ``kernel``: its name for people. A run that fails is a
    verdict. Raises as ``make_runs``.
    """
    run_set = RunSet(tuple(replace(run, images=images) for run in runs))
    measures = [partial(judged, scenario) for scenario in scenarios]
    watch = progress_printer("conformance")
    made = make_runs(run_set, out, at_once, watch, measure=measures)
    verdicts: list[Verdict] = []
    for scenario, result in zip(scenarios, made.results, strict=True):
        if isinstance(result, FailedRun):
            verdicts += failed(scenario, result.error.message)
        else:
            verdicts += result.value
    records = {result.run.name: result.record for result in made.runs}
    return Conformance(stack, kernel, tuple(verdicts), records)
