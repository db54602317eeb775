"""The results of programs over several paths: a table, and JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence

from farpath.base.column import Column, number
from farpath.base.errors import FarpathError
from farpath.metrics.finding import Finding, verdict_of
from farpath.record.program_record import status_words
from farpath.report.junit import JunitCase
from farpath.report.table import Table
from farpath.runs.make import FailedRun, MadeRun, MadeSet
from farpath.runs.program_runs import ProgramResult

ProgramRun = MadeRun[ProgramResult] | FailedRun
#: Columns of a run that has a record.
_OF_RECORDS = (
    Column[MadeRun[ProgramResult]]("status", "", lambda run: run.value.ending.status),
    Column[MadeRun[ProgramResult]](
        "took_s", "virtual s", lambda run: run.value.ending.took_s, decimals=3
    ),
    Column[MadeRun[ProgramResult]]("record", "", lambda run: run.record.name),
    Column[MadeRun[ProgramResult]]("fingerprint", "", lambda run: run.fingerprint),
)


def program_table(outcome: MadeSet[ProgramResult]) -> Table:
    """Return a row for each run: the options that vary, the client's end and its virtual time."""
    seed = Column[ProgramRun]("seed", "seed", lambda run: run.run.plan.seed)
    several_seeds = len({run.plan.seed for run in outcome.run_set.runs}) > 1
    columns = [
        *map(_option, outcome.run_set.axes),
        seed if several_seeds else seed.hidden,
        Column[ProgramRun]("result", "result", _result),
        *_of_findings(outcome.runs),
        *(_of_record(column) for column in _OF_RECORDS),
    ]
    return Table.of("exec", "The client over each path", columns, outcome.results)


def _of_findings(runs: Sequence[MadeRun[ProgramResult]]) -> list[Column[ProgramRun]]:
    """Return a column for each quantity that a preset's programs measured in any run."""
    found = {(one.key, one.of): one for run in runs for one in run.value.findings}
    return [_of_finding(one) for one in found.values()]


def _of_finding(finding: Finding) -> Column[ProgramRun]:
    def value(run: MadeRun[ProgramResult]) -> float | None:
        values = {(one.key, one.of): one.value for one in run.value.findings}
        return values.get((finding.key, finding.of))

    name = " ".join(filter(None, (finding.of, finding.key))).replace(" ", "_")
    words = ", ".join(filter(None, (finding.of, finding.words)))
    return _of_record(Column(name, words, value, finding.decimals))


def _option(name: str) -> Column[ProgramRun]:
    return Column(name, name, lambda run: run.run.values[name])


def _of_record(column: Column[MadeRun[ProgramResult]]) -> Column[ProgramRun]:
    shown = column if column.heading else column.hidden
    return shown.seen_from(lambda run: run if isinstance(run, MadeRun) else None)


def _result(run: ProgramRun) -> str:
    return "error" if isinstance(run, FailedRun) else result_words(run.value)


def result_words(result: ProgramResult) -> str:
    """Return what a client's result means to a test: its status, and bounds that it violates."""
    if result.passed or result.ending.status:
        return status_words(result.ending.status)
    return f"fail: {verdict_of(result.findings)}"


def junit_cases(suite: str, results: Sequence[ProgramRun]) -> list[JunitCase]:
    """Return a case for each run of a suite; their times are virtual seconds."""
    return [
        failed_case(suite, run.run.name, run.error)
        if isinstance(run, FailedRun)
        else ended_case(suite, run.run.name, run.value)
        for run in results
    ]


def ended_case(suite: str, name: str, result: ProgramResult) -> JunitCase:
    """Return the case of a client that ran: it failed if its status is not 0."""
    ending = result.ending
    return JunitCase(
        *(suite, name, ending.took_s, None if result.passed else "failure"),
        message=result_words(result),
        text="".join(map(_finding_line, result.findings)) or result.output + result.messages,
    )


def _finding_line(finding: Finding) -> str:
    words = " of ".join(filter(None, (finding.words, finding.of)))
    value = number(finding.value, finding.decimals)
    return f"{words}: {value}, bound {finding.bound_text}, {finding.verdict}\n"


def failed_case(suite: str, name: str, error: FarpathError) -> JunitCase:
    """Return the case of a client for which there was no lab, or which did not end in time."""
    return JunitCase(suite, name, 0.0, "error", error.message, error.detail)
