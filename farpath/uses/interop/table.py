"""The results of interop cases: a row for each, and the matrix of servers and clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from farpath.base.column import Column, Value
from farpath.report.junit import JunitCase
from farpath.report.table import Table
from farpath.report.tables.program_results import failed_case
from farpath.runs.make import FailedRun, MadeRun, MadeSet
from farpath.uses.interop.testcases import CASES
from farpath.uses.interop.verdict import FAILED, PASSED, UNSUPPORTED, CaseResult

MeetingRun = MadeRun[CaseResult] | FailedRun
#: Marks of results in the matrix.
MARKS = {PASSED: "", UNSUPPORTED: "?", FAILED: "✗"}


def _value(name: str) -> Column[MeetingRun]:
    return Column(name, name, lambda run: run.run.values[name])


def _of_result(column: Column[CaseResult]) -> Column[MeetingRun]:
    shown = column if column.heading else column.hidden
    return shown.seen_from(lambda run: run.value if isinstance(run, MadeRun) else None)


COLUMNS: tuple[Column[MeetingRun], ...] = (
    _value("server"),
    _value("client"),
    _value("case"),
    Column("result", "result", lambda run: outcome_of(run)),
    _of_result(Column("took_s", "virtual s", lambda one: one.took_s, decimals=3)),
    _of_result(Column("handshakes", "handshakes", lambda one: one.handshakes)),
    _of_result(Column("goodput_mbps", "Mbit/s", lambda one: _mbps(one.goodput_bps), decimals=3)),
    _of_result(Column("beside_mbps", "TCP beside", lambda one: _mbps(one.beside_bps), decimals=3)),
    Column[MeetingRun]("why", "", lambda run: why_of(run)).hidden,
    Column[MeetingRun](
        "record", "", lambda run: run.record.name if isinstance(run, MadeRun) else None
    ).hidden,
    Column[MeetingRun](
        "fingerprint", "", lambda run: run.fingerprint if isinstance(run, MadeRun) else None
    ).hidden,
)


def _mbps(rate_bps: float | None) -> Value:
    return None if rate_bps is None else rate_bps / 1e6


def outcome_of(run: MeetingRun) -> str:
    """Return the result of a case; an error of the lab is one too."""
    return "error" if isinstance(run, FailedRun) else run.value.outcome


def why_of(run: MeetingRun) -> str:
    """Return why a case did not pass; empty if it did."""
    return run.error.message if isinstance(run, FailedRun) else run.value.why


def results_table(made: MadeSet[CaseResult], *, all_of_them: bool = True) -> Table:
    """Return a row for each case of each pair, or for each that both ends know."""
    shown = [run for run in made.results if all_of_them or outcome_of(run) != UNSUPPORTED]
    return Table.of("interop", "Cases of the QUIC interop runner", COLUMNS, shown)


def matrix_table(made: MadeSet[CaseResult]) -> Table:
    """Return a row for each server and a column for each client, with the letters of cases."""
    cells: dict[tuple[str, str], list[str]] = {}
    for run in made.results:
        values = run.run.values
        cells.setdefault((values["server"], values["client"]), []).append(_mark(run, values))
    servers = dict.fromkeys(server for server, _ in cells)
    clients = dict.fromkeys(client for _, client in cells)
    rows = [
        (server, *(" ".join(cells.get((server, client), ["-"])) for client in clients))
        for server in servers
    ]
    note = "✗ failed, ? not supported, ! error; all others passed"
    return Table.of_texts("Servers by clients", ("server", *clients), rows, note)


def reasons(made: MadeSet[CaseResult]) -> str:
    """Return a line for each case that failed, with its reason.

    The error that ends the command has those of runs that the lab did not finish.
    """
    return "".join(
        f"{run.run.name}: {why_of(run)}\n" for run in made.results if outcome_of(run) == FAILED
    )


def _mark(run: MeetingRun, values: Mapping[str, str]) -> str:
    letters = next(case.letters for case in CASES if case.name == values["case"])
    return f"{MARKS.get(outcome_of(run), '!')}{letters}"


def junit_cases(results: Sequence[MeetingRun]) -> list[JunitCase]:
    """Return a case of JUnit for each; one that is not supported passes and says so."""
    return [
        failed_case("interop", run.run.name, run.error)
        if isinstance(run, FailedRun)
        else JunitCase(
            *("interop", run.run.name, run.value.took_s),
            problem="failure" if run.value.outcome == FAILED else None,
            message=run.value.why,
            text=run.value.client_said or run.value.why,
        )
        for run in results
    ]
