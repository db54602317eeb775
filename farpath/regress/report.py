"""Report: verdicts as text for a terminal, Markdown for a pull request, JSON and JUnit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from farpath import __version__
from farpath.regress.baseline import number
from farpath.regress.compare import Comparison
from farpath.regress.verdict import CaseState, CaseVerdict, counts
from farpath.report.tables.formats import Sheet, as_markdown, as_text
from farpath.report.tables.regions import Grid

#: What stands in a cell for each state.
MARKS: Mapping[CaseState, str] = {
    CaseState.IDENTICAL: "=",
    CaseState.WITHIN: "~",
    CaseState.NEW: "new",
    CaseState.CHANGED: "CHANGED",
    CaseState.FAILED: "FAILED",
}
#: States that a reader has to look at.
TOLD = (CaseState.CHANGED, CaseState.FAILED, CaseState.NEW)


def matrix(compared: Comparison) -> Sheet:
    """A row for each case, a column for each stack."""
    verdicts = compared.verdicts
    stacks = tuple(dict.fromkeys(verdict.stack for verdict in verdicts))
    cases = tuple(dict.fromkeys(verdict.case for verdict in verdicts))
    by_place = {(verdict.case, verdict.stack): verdict for verdict in verdicts}
    rows = tuple(
        (case, *(_mark(by_place.get((case, stack))) for stack in stacks)) for case in cases
    )
    note = "= identical, packet for packet; ~ within bounds"
    grid = Grid(f"{compared.after} against {compared.before}", ("run", *stacks), rows, note)
    columns = ("run", "state", "fingerprint")
    data = tuple((each.trial, str(each.state), each.fingerprint) for each in verdicts)
    return Sheet("regress", grid, columns, data)


def _mark(verdict: CaseVerdict | None) -> str:
    return "" if verdict is None else MARKS[verdict.state]


def changed(compared: Comparison) -> Sheet | None:
    """A row for each metric that is out of bounds; None if there is none."""
    found = [(each, one) for each in compared.verdicts for one in each.differences]
    if not found:
        return None
    rows, data = [], []
    for verdict, one in found:
        before, after = one.before, one.after
        value = None if before is None else before.value
        rows.append(
            (
                verdict.trial,
                one.metric,
                number(value),
                number(after),
                one.part,
                one.bounds,
            )
        )
        data.append((
            verdict.trial, one.metric, value, after,
            None if before is None else before.low, None if before is None else before.high,
        ))  # fmt: skip
    grid = Grid("What changed", ("run", "metric", "before", "after", "", "bounds"), tuple(rows))
    columns = ("run", "metric", "before", "after", "low", "high")
    return Sheet("changed", grid, columns, tuple(data))


def summary(verdicts: Iterable[CaseVerdict]) -> str:
    """How many are in which state, in one line."""
    found = counts(verdicts)
    return ", ".join(f"{count} {state}" for state, count in found.items() if count)


def failures(verdicts: Iterable[CaseVerdict]) -> list[str]:
    """A line for each run that failed, and for each that no baseline knows."""
    return [
        f"{each.trial}: {each.why or each.state}"
        for each in verdicts
        if each.state in (CaseState.FAILED, CaseState.NEW)
    ]


def text(compared: Comparison) -> str:
    """For a terminal."""
    sheets = [matrix(compared), changed(compared)]
    parts = [as_text(sheet) for sheet in sheets if sheet is not None]
    return "\n".join([*parts, *failures(compared.verdicts), summary(compared.verdicts)])


def markdown(compared: Comparison) -> str:
    """For a pull request."""
    sheets = [matrix(compared), changed(compared)]
    parts = [as_markdown(sheet) for sheet in sheets if sheet is not None]
    listed = "".join(f"- {line}\n" for line in failures(compared.verdicts))
    return "\n".join([*parts, *([listed] if listed else []), summary(compared.verdicts)]) + "\n"


def as_dict(compared: Comparison) -> dict[str, Any]:
    """For programs: plain values."""
    return {
        "farpath": __version__,
        "before": compared.before,
        "after": compared.after,
        "counts": {str(state): count for state, count in counts(compared.verdicts).items()},
        "runs": [_run(verdict) for verdict in compared.verdicts],
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
                "metric": each.metric,
                "before": None if each.before is None else each.before.value,
                "low": None if each.before is None else each.before.low,
                "high": None if each.before is None else each.before.high,
                "after": each.after,
            }
            for each in verdict.differences
        ],
    }


def as_json(compared: Comparison) -> str:
    """:func:`as_dict` as text."""
    return json.dumps(as_dict(compared), indent=1) + "\n"


def junit(compared: Comparison) -> str:
    """JUnit XML: a suite for each stack, a case for each run.

    What changed is a failure, what could not run an error, as the Ant task's format has it.
    """
    root = ElementTree.Element("testsuites", name="farpath regress")
    stacks = dict.fromkeys(verdict.stack for verdict in compared.verdicts)
    for stack in stacks:
        _junit_suite(root, stack, [v for v in compared.verdicts if v.stack == stack])
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _junit_suite(root: ElementTree.Element, stack: str, verdicts: Sequence[CaseVerdict]) -> None:
    found = counts(verdicts)
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=stack,
        tests=str(len(verdicts)),
        failures=str(found[CaseState.CHANGED] + found[CaseState.NEW]),
        errors=str(found[CaseState.FAILED]),
        time=f"{sum(verdict.wall_s for verdict in verdicts):.3f}",
    )
    for verdict in verdicts:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=f"farpath.{stack}",
            name=verdict.case,
            time=f"{verdict.wall_s:.3f}",
        )
        if verdict.state in TOLD:
            kind = "error" if verdict.state == CaseState.FAILED else "failure"
            lines = [str(each) for each in verdict.differences] or [verdict.why]
            what = ElementTree.SubElement(case, kind, message=str(verdict.state))
            what.text = "\n".join(lines)
        else:
            out = ElementTree.SubElement(case, "system-out")
            out.text = f"{verdict.state}, fingerprint {verdict.fingerprint}"
