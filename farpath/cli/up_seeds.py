"""The part of ``farpath up`` that makes the runs of several seeds, and shrinks schedules."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.errors import BadInputError
from farpath.base.files import write_text

if TYPE_CHECKING:
    from farpath.lab.exec.service_run import UpRun
    from farpath.planning.deployment import Deployment
    from farpath.report.junit import JunitCase
    from farpath.report.report import Report
    from farpath.runs.search.result import SeedSearch

#: The folder of the tables among the records.
DEFAULT_REPORT = "up"


@dataclass(frozen=True)
class SeedsAsked:
    """A search over seeds as it was asked for.

    ``read``: the deployment of a seed; of None that of the file. ``planned``: the run of a
    deployment. ``command``: the words of the command of one run without its seed, and
    ``bare`` without its options of faults too. ``count``: number of seeds. ``wall_s``: real s of
    each run.
    """

    read: Callable[[int | None], Deployment]
    planned: Callable[[Deployment], UpRun]
    command: tuple[str, ...]
    bare: tuple[str, ...]
    first: Deployment
    count: int
    keep_going: bool
    shrink: bool
    out: FilePath
    cores: int | None
    wall_s: float
    as_json: bool
    junit: FilePath | None


def check_seeds(count: int | None, keep_going: bool, main_alone: bool) -> None:
    """Raise BadInputError for a number of seeds that is not possible, and for what needs others."""
    from farpath.runs.run_set import MOST_RUNS

    if count is not None and count not in range(1, MOST_RUNS + 1):
        raise BadInputError(
            option="seeds", given=str(count), remedy=f"it must be from 1 to {MOST_RUNS:,}"
        )
    if keep_going and (count or 1) == 1:
        raise BadInputError(
            option="keep_going",
            problem="there is one seed",
            remedy="give several, as in `seeds=20`",
        )
    if main_alone:
        raise BadInputError(
            option="main_alone",
            problem="a search prints no output of services, which the records have",
            remedy="leave it out",
        )


def run_seeds(asked: SeedsAsked) -> int:
    """Make the runs, print the results, and return the status: 1 if the run of a seed failed."""
    from farpath.report.junit import junit_xml
    from farpath.report.search_report import search_report, shrink_report
    from farpath.runs.search.first_failure import search_seeds
    from farpath.runs.search.shrink import shrink_faults

    first = asked.first.seed
    search = search_seeds(
        lambda seed: asked.planned(asked.first if seed == first else asked.read(seed)),
        range(first, first + asked.count),
        asked.out,
        asked.cores,
        keep_going=asked.keep_going,
        wall_s=asked.wall_s,
    )
    reports = [search_report(search, asked.command)]
    if asked.shrink and search.first:
        deployment = asked.read(search.first.seed)
        shrunk = shrink_faults(
            lambda faults: asked.planned(dataclasses.replace(deployment, faults=faults)),
            search.first,
            asked.out,
            wall_s=asked.wall_s,
        )
        reports.append(shrink_report(shrunk, asked.bare))
    if asked.junit is not None:
        cases = seed_cases(asked.first.name, search, asked.command)
        write_text(asked.junit, junit_xml("farpath up", cases))
    made = _joined(reports, asked)
    made.write(asked.out / DEFAULT_REPORT)
    made.print(asked.out / DEFAULT_REPORT, asked.as_json)
    return int(bool(search.failures))


def seed_cases(name: str, search: SeedSearch, command: tuple[str, ...]) -> list[JunitCase]:
    """Return a case of JUnit for each seed; one that failed has the command that repeats it."""
    from farpath.report.junit import JunitCase
    from farpath.report.tables.seed_search import faults_text
    from farpath.runs.search.result import seed_command

    return [
        JunitCase(
            *(name, f"seed {result.seed}", result.ended.took_s or 0.0),
            problem="failure" if result.failed else None,
            message=result.ended.words,
            text=f"faults: {faults_text(result.faults)}\n{seed_command(command, result.seed)}\n",
        )
        for result in search.results
    ]


def _joined(reports: list[Report], asked: SeedsAsked) -> Report:
    """Return the report of the search, and that of the smallest schedule below it."""
    from farpath.report.report import Report

    search, *shrunk = reports
    data: dict[str, Any] = {**search.data, "smallest": shrunk[0].data if shrunk else None}
    return Report(
        {name: content for report in reports for name, content in report.files.items()},
        "\n\n".join(report.text for report in reports),
        data,
        {"records": asked.out, **({"junit": asked.junit} if asked.junit else {})},
    )
