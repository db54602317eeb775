"""Reports of a comparison: text for a terminal, Markdown for a pull request, JSON and JUnit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from farpath import __version__
from farpath.base.column import Column, Shown, given
from farpath.report.junit import JunitCase, junit_xml
from farpath.report.table import Cell, Table, as_markdown, as_wide_text
from farpath.spec.hosts import SIDES
from farpath.uses.regress.baseline import value_text
from farpath.uses.regress.kernel_comparison import Comparison
from farpath.uses.regress.verdict import CaseState, CaseVerdict, Difference, count_states

#: The mark of each state in the table.
MARKS: Mapping[CaseState, str] = {
    CaseState.IDENTICAL: "=",
    CaseState.WITHIN: "~",
    CaseState.NEW: "new",
    CaseState.CHANGED: "CHANGED",
    CaseState.FAILED: "FAILED",
}
#: The states that a reader has to look at.
REPORTED_STATES = (CaseState.CHANGED, CaseState.FAILED, CaseState.NEW)


def matrix(comparison: Comparison) -> Table:
    """Return the table of all runs: a row for each case, a column for each stack."""
    verdicts = comparison.verdicts
    stacks = tuple(dict.fromkeys(verdict.stack for verdict in verdicts))
    cases = tuple(dict.fromkeys(verdict.case for verdict in verdicts))
    by_cell = {(verdict.case, verdict.stack): verdict for verdict in verdicts}
    rows = tuple((case, *(_mark(by_cell.get((case, stack))) for stack in stacks)) for case in cases)
    note = "= identical, packet for packet; ~ within bounds"
    text_table = Table.of_texts(
        f"{comparison.after} against {comparison.before}", ("run", *stacks), rows, note
    )
    columns = ("run", "state", "fingerprint")
    data = tuple((verdict.trial, str(verdict.state), verdict.fingerprint) for verdict in verdicts)
    return Table.of_values("regress", columns, data, text_table)


def _mark(verdict: CaseVerdict | None) -> str:
    return "" if verdict is None else MARKS[verdict.state]


def changed(comparison: Comparison) -> Table | None:
    """Return the table of metrics that are out of bounds, a row for each; None if there is none."""
    differences = [
        (verdict, difference)
        for verdict in comparison.verdicts
        for difference in verdict.differences
    ]
    if not differences:
        return None
    columns: tuple[Column[Any], ...] = (
        Column("run", "run", lambda each: each[0].trial),
        Column("metric", "metric", lambda each: each[1].metric),
        Column("before", "before", lambda each: _of_before(each[1], "value"),
               shown=lambda each: value_text(_of_before(each[1], "value"))),
        Column("after", "after", lambda each: each[1].after,
               shown=lambda each: value_text(each[1].after)),
        Column("", "", lambda each: each[1].relative_change),
        Column("", "bounds", lambda each: each[1].bounds),
        Column("low", "", lambda each: _of_before(each[1], "low"), for_people=False),
        Column("high", "", lambda each: _of_before(each[1], "high"), for_people=False),
    )  # fmt: skip
    return Table.of("changed", "What changed", columns, differences)


def _of_before(difference: Difference, name: str) -> float | None:
    """Return the value of before or one of its bounds; None of a new metric."""
    before = difference.before
    return None if before is None else float(getattr(before, name))


def origins(comparison: Comparison) -> Table | None:
    """Return the table of changes with the end that each comes from, if known."""
    verdicts = [verdict for verdict in comparison.verdicts if verdict.sides]
    if not verdicts:
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            verdict.trial,
            *(Shown(str(verdict.sides[side]), MARKS[verdict.sides[side]]) for side in SIDES),
            verdict.origin,
        )
        for verdict in verdicts
    )
    columns = (
        given("run", "run"),
        *(given(side, f"at the {side} alone") for side in SIDES),
        given("origin", "the change comes from"),
    )
    note = f"{comparison.after} at one end alone, {comparison.before} at the other"
    return Table("origins", "Which end it comes from", columns, rows, note)


def summary(verdicts: Iterable[CaseVerdict]) -> str:
    """Count the verdicts in each state, in one line."""
    by_state = count_states(verdicts)
    return ", ".join(f"{count} {state}" for state, count in by_state.items() if count)


def failures(verdicts: Iterable[CaseVerdict]) -> list[str]:
    """Return a line for each run that failed, and for each that no baseline holds."""
    return [
        f"{verdict.trial}: {verdict.why or verdict.state}"
        for verdict in verdicts
        if verdict.state in (CaseState.FAILED, CaseState.NEW)
    ]


def diffs(comparison: Comparison) -> list[str]:
    """Return a line for each changed run, with the command that finds its first other packet."""
    commands = ((verdict.trial, comparison.diff_of(verdict)) for verdict in comparison.verdicts)
    return [f"{trial}, the first packet that differs: {command}" for trial, command in commands
            if command]  # fmt: skip


def text(comparison: Comparison) -> str:
    """Return the report for a terminal."""
    tables = [matrix(comparison), changed(comparison), origins(comparison)]
    parts = [as_wide_text(table) for table in tables if table is not None]
    listed = [*failures(comparison.verdicts), *diffs(comparison)]
    return "\n".join([*parts, *listed, summary(comparison.verdicts)])


def markdown(comparison: Comparison) -> str:
    """Return the report for a pull request."""
    tables = [matrix(comparison), changed(comparison), origins(comparison)]
    parts = [as_markdown(table) for table in tables if table is not None]
    lines = [*failures(comparison.verdicts), *diffs(comparison)]
    listed = "".join(f"- {line}\n" for line in lines)
    return "\n".join([*parts, *([listed] if listed else []), summary(comparison.verdicts)]) + "\n"


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """Return the report as plain values for programs."""
    return {
        "farpath": __version__,
        "before": comparison.before,
        "after": comparison.after,
        "counts": {str(state): count for state, count in count_states(comparison.verdicts).items()},
        "runs": [
            {**_run(verdict), "diff": comparison.diff_of(verdict)}
            for verdict in comparison.verdicts
        ],
    }


def _run(verdict: CaseVerdict) -> dict[str, Any]:
    return {
        "run": verdict.trial,
        "state": str(verdict.state),
        "why": verdict.why,
        "fingerprint": verdict.fingerprint,
        "metrics": dict(verdict.metrics),
        "changed": [
            {
                "metric": difference.metric,
                "before": None if difference.before is None else difference.before.value,
                "low": None if difference.before is None else difference.before.low,
                "high": None if difference.before is None else difference.before.high,
                "after": difference.after,
            }
            for difference in verdict.differences
        ],
        "sides": {side: str(state) for side, state in verdict.sides.items()},
        "origin": verdict.origin,
    }


def as_json(comparison: Comparison) -> str:
    """Return ``as_dict`` as JSON text."""
    return json.dumps(as_dict(comparison), indent=1) + "\n"


def junit(comparison: Comparison) -> str:
    """Return JUnit XML: a suite for each stack, a case for each run.

    A change is a failure, and a run that could not finish is an error, as in the format of the Ant
    task.
    """
    return junit_xml(
        "farpath regress", [_junit_case(verdict, comparison) for verdict in comparison.verdicts]
    )


def _junit_case(verdict: CaseVerdict, comparison: Comparison) -> JunitCase:
    case = JunitCase(verdict.stack, verdict.case, verdict.wall_s)
    if verdict.state not in REPORTED_STATES:
        return replace(case, text=f"{verdict.state}, fingerprint {verdict.fingerprint}")
    lines = [str(difference) for difference in verdict.differences] or [verdict.why]
    if verdict.origin:
        lines.append(f"the change comes from: {verdict.origin}")
    if command := comparison.diff_of(verdict):
        lines.append(f"the first packet that differs: {command}")
    return replace(
        case,
        problem="error" if verdict.state == CaseState.FAILED else "failure",
        message=str(verdict.state),
        text="\n".join(lines),
    )
