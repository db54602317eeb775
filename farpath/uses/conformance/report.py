"""Reports: text for a terminal, Markdown, JSON and an HTML page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from farpath import __version__
from farpath.base.column import NOTHING, Column
from farpath.report.html.render import render
from farpath.report.table import Table, as_markdown, as_wide_text
from farpath.uses.conformance.scenarios import book
from farpath.uses.conformance.verdict import State, Verdict, count_states

if TYPE_CHECKING:
    from farpath.uses.conformance.runner import Conformance
    from farpath.uses.conformance.scenarios import Statement

#: The states for which the report gives a reason.
EXPLAINED = (State.KNOWN, State.UNDECIDED, State.FAILED)
_MARKS = {"equal": "", "at most": "<= ", "at least": ">= "}


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else NOTHING


def _stated(verdict: Verdict) -> str:
    """Return the stated value with bound, tolerance and unit: ``10 ± 0.1 s``."""
    statement = verdict.statement
    if not math.isfinite(verdict.stated):
        return NOTHING
    off_by = statement.off_by(verdict.stated)
    allowed = f" ± {off_by:.2g}" if off_by else ""
    return f"{_MARKS[statement.bound]}{_number(verdict.stated)}{allowed} {statement.unit}".strip()


def _source(statement: Statement) -> str:
    return f"{statement.document}, {statement.section}"


def _heading(conformance: Conformance) -> str:
    return f"{conformance.stack} on {conformance.kernel}: measured beside stated"


def table(conformance: Conformance) -> Table:
    """Return the table of all statements, a row for each."""
    columns: tuple[Column[Verdict], ...] = (
        Column("statement", "statement", lambda verdict: verdict.name),
        Column("document", "document", lambda verdict: _source(verdict.statement)),
        Column("level", "level", lambda verdict: verdict.statement.level),
        Column("measured", "measured", lambda verdict: verdict.value,
               shown=lambda verdict: verdict.measured.text(_number)),
        Column("least", "", lambda verdict: verdict.measured.least, for_people=False),
        Column("most", "", lambda verdict: verdict.measured.most, for_people=False),
        Column("stated", "stated", lambda verdict: verdict.stated, shown=_stated),
        Column("", "deviation", lambda verdict: verdict.deviation),
        Column("unit", "", lambda verdict: verdict.statement.unit, for_people=False),
        Column("verdict", "verdict", lambda verdict: str(verdict.state)),
    )  # fmt: skip
    named = dict.fromkeys(verdict.statement.document for verdict in conformance.verdicts)
    documents = "; ".join(f"{name}: {book().documents[name]}" for name in named)
    note = ". ".join([*_draws_words(conformance), documents])
    heading = _heading(conformance)
    return Table.of("conformance", heading, columns, conformance.verdicts, note)


def _draws_words(conformance: Conformance) -> list[str]:
    """Return what measured values are of, where they are of several draws."""
    draws = conformance.draws
    return [f"Measured: median (and range) of {draws} draws"] if draws > 1 else []


def summary(verdicts: Iterable[Verdict]) -> str:
    """Count the verdicts in each state, in one line."""
    return "; ".join(f"{count} {state}" for state, count in count_states(verdicts).items())


def reasons(verdicts: Iterable[Verdict]) -> list[str]:
    """Return a line for each statement that differs knowingly, is not decided, or failed."""
    return [
        f"{verdict.name}: {verdict.state}: {verdict.why}"
        for verdict in verdicts
        if verdict.state in EXPLAINED
    ]


def text(conformance: Conformance) -> str:
    """Return the report for a terminal."""
    verdicts = conformance.verdicts
    return "\n".join(
        [
            as_wide_text(table(conformance)),
            *reasons(verdicts),
            *conformance.notes,
            summary(verdicts),
        ]
    )


def markdown(conformance: Conformance, figures: Mapping[str, str]) -> str:
    """Return the report in Markdown; ``figures``: the names of files by scenario."""
    lines = [*reasons(conformance.verdicts), *conformance.notes]
    listed = "".join(f"- {line}\n" for line in lines)
    drawn = "".join(f"![{name}]({file})\n" for name, file in figures.items())
    parts = [as_markdown(table(conformance)), listed, drawn, summary(conformance.verdicts)]
    return "\n".join(part for part in parts if part) + "\n"


def as_dict(conformance: Conformance) -> dict[str, Any]:
    """Return the report as plain values for programs, without NaN."""
    return {
        "farpath": __version__,
        "stack": conformance.stack,
        "kernel": conformance.kernel,
        "draws": conformance.draws,
        "notes": list(conformance.notes),
        "counts": {
            str(state): count for state, count in count_states(conformance.verdicts).items()
        },
        "statements": [_statement(verdict) for verdict in conformance.verdicts],
    }


def as_json(conformance: Conformance) -> str:
    """Return ``as_dict`` as JSON text."""
    return json.dumps(as_dict(conformance), indent=1) + "\n"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _statement(verdict: Verdict) -> dict[str, Any]:
    statement = verdict.statement
    return {
        "statement": verdict.name,
        "document": statement.document,
        "section": statement.section,
        "level": statement.level,
        "says": statement.says,
        "measured": _finite(verdict.value),
        "least": _finite(verdict.measured.least),
        "most": _finite(verdict.measured.most),
        "stated": _finite(verdict.stated),
        "bound": statement.bound,
        "off_by": _finite(statement.off_by(verdict.stated)),
        "because": statement.because,
        "unit": statement.unit,
        "state": str(verdict.state),
        "why": verdict.why,
    }


def html(conformance: Conformance, figures: Mapping[str, str]) -> str:
    """Return the self-contained page; ``figures``: SVG texts by scenario."""
    by_scenario: dict[str, list[Verdict]] = {}
    for verdict in conformance.verdicts:
        by_scenario.setdefault(verdict.scenario.name, []).append(verdict)
    sections = [
        {
            "scenario": verdicts[0].scenario,
            "command": " ".join(
                ["farpath run", *verdicts[0].scenario.request(conformance.stack).options()]
            ),
            "rows": [
                (verdict, _stated(verdict), verdict.measured.text(_number)) for verdict in verdicts
            ],
            "figure": figures.get(name, ""),
        }
        for name, verdicts in by_scenario.items()
    ]
    return render(
        "conformance.html",
        heading=_heading(conformance),
        assets="",
        summary=". ".join(
            [
                summary(conformance.verdicts),
                *_draws_words(conformance),
                *(note.rstrip(".") for note in conformance.notes),
            ]
        ),
        sections=sections,
    )
