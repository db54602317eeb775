"""The runner of scenarios: several runs at once, each judged by its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path as FilePath

from farpath.base.files import make_directory
from farpath.lab.artifacts.images import Images
from farpath.lab.machine import cores_each, limited_cores
from farpath.lab.pool import Job, Pool
from farpath.lab.pool_progress import progress_printer
from farpath.uses.conformance.measures import MEASURES
from farpath.uses.conformance.scenarios import Scenario
from farpath.uses.conformance.verdict import Verdict, failed, judge

#: Virtual seconds of traffic that take about as long as the start of a guest.
START_COST_S = 30.0


@dataclass(frozen=True)
class Conformance:
    """The verdicts on a stack on a kernel, and the records of its scenarios by their names."""

    stack: str
    kernel: str
    verdicts: tuple[Verdict, ...]
    records: Mapping[str, FilePath]


def _run(scenario: Scenario, stack: str, images: Images, out: FilePath, cores: int) -> FilePath:
    """Make a scenario's record, or find it in ``out``; return its directory."""
    from farpath.lab.run import run

    with limited_cores(cores):
        return run(scenario.plan(stack), out, False, lambda _event: None, images).directory


def judged(scenario: Scenario, record_dir: FilePath) -> list[Verdict]:
    """Judge a scenario's statements by its record."""
    from farpath.record.record import load_record

    record = load_record(record_dir)
    return [
        judge(scenario, statement, MEASURES[statement.measure](record))
        for statement in scenario.statements
    ]


def run_scenarios(
    scenarios: Sequence[Scenario],
    stack: str,
    kernel: str,
    images: Images,
    out: FilePath,
    at_once: int,
) -> Conformance:
    """Run scenarios on a kernel, several at once, and judge them; print progress.

    ``kernel``: its name for people. A run whose record is in ``out`` is not made again. A run that
    fails is a verdict. Raises the errors of a plan that is not allowed, and as ``make_directory``.
    """
    plans = [scenario.plan(stack) for scenario in scenarios]
    make_directory(out)
    cores = cores_each(min(at_once, len(scenarios)))
    calls = [
        Job(
            partial(_run, scenario, stack, images, out, cores),
            START_COST_S + plan.schedule.duration_s,
        )
        for scenario, plan in zip(scenarios, plans, strict=True)
    ]
    with Pool(at_once) as pool:
        results = pool.run(
            calls, progress_printer("conformance", [scenario.name for scenario in scenarios])
        )
    verdicts: list[Verdict] = []
    records = {}
    for scenario, result in zip(scenarios, results, strict=True):
        if result.value is None:
            verdicts += failed(scenario, result.error.message if result.error else "")
        else:
            records[scenario.name] = result.value
            verdicts += judged(scenario, result.value)
    return Conformance(stack, kernel, tuple(verdicts), records)
