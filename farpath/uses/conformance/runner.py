"""The runner of scenarios: several runs at once, each judged by its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path as FilePath

from farpath.lab.artifacts.images import Images
from farpath.metrics.one_draw import one_draw_notes
from farpath.record.record import Record
from farpath.runs.make import FailedRun, make_runs
from farpath.runs.run_set import PlannedRun, RunSet
from farpath.runs.run_set_progress import progress_printer
from farpath.uses.conformance.scenario_measures import MEASURES
from farpath.uses.conformance.scenarios import Scenario
from farpath.uses.conformance.verdict import Verdict, failed, judge, of_draws


@dataclass(frozen=True)
class Conformance:
    """The verdicts on a stack on a kernel.

    ``records``: of the scenarios by their names, of several draws that of the first. ``draws``: of
    each scenario. ``notes``: sentences on runs in which nothing is random.
    """

    stack: str
    kernel: str
    verdicts: tuple[Verdict, ...]
    records: Mapping[str, FilePath]
    draws: int = 1
    notes: tuple[str, ...] = ()


def judged(scenario: Scenario, record: Record) -> list[Verdict]:
    """Judge a scenario's statements by its record."""
    return [
        judge(scenario, statement, MEASURES[statement.measure](record))
        for statement in scenario.statements
    ]


def run_scenarios(
    scenarios: Sequence[Scenario],
    runs: Sequence[Sequence[PlannedRun]],
    stack: str,
    kernel: str,
    images: Images,
    out: FilePath,
    at_once: int,
) -> Conformance:
    """Run scenarios on a kernel, several at once, and judge them; print progress.

    ``runs``: those of each scenario, as many draws of it. ``kernel``: its name for people. A run
    that fails is a verdict. Raises as ``make_runs``.
    """
    pairs = [(scenario, run) for scenario, of in zip(scenarios, runs, strict=True) for run in of]
    run_set = RunSet(tuple(replace(run, images=images) for _, run in pairs))
    measures = [partial(judged, scenario) for scenario, _ in pairs]
    watch = progress_printer("conformance")
    made = make_runs(run_set, out, at_once, watch, measure=measures)
    by_scenario: dict[str, list[Sequence[Verdict]]] = {}
    records: dict[str, FilePath] = {}
    for (scenario, _), result in zip(pairs, made.results, strict=True):
        of_scenario = by_scenario.setdefault(scenario.name, [])
        if isinstance(result, FailedRun):
            of_scenario.append(failed(scenario, result.error.message))
        else:
            of_scenario.append(result.value)
            records.setdefault(scenario.name, result.record)
    verdicts = tuple(
        of_draws(of_statement)
        for of_scenario in by_scenario.values()
        for of_statement in zip(*of_scenario, strict=True)
    )
    notes = one_draw_notes([run.plan for _, run in pairs])
    return Conformance(stack, kernel, verdicts, records, len(runs[0]), notes)
