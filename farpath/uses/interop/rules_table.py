"""What the rules over qlog found, of each endpoint as client and as server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from farpath.base.column import Column
from farpath.report.junit import JunitCase
from farpath.report.table import Table
from farpath.runs.make import MadeRun
from farpath.uses.interop.qlog_rules import RULES, Finding, Rule, together
from farpath.uses.interop.table import MeetingRun

HOLDS, UNKNOWN = "holds", "-"


@dataclass(frozen=True)
class RuleResult:
    """What a rule found of an endpoint on one side, over all cases.

    ``looked_at``: how often it could be broken. ``worst``: where it was broken most, in words.
    """

    rule: Rule
    endpoint: str
    side: str
    looked_at: int
    broken: int
    worst: str

    @property
    def column(self) -> str:
        """The heading of its column."""
        return f"{self.endpoint} {self.side}"

    @property
    def words(self) -> str:
        """It in a cell."""
        if not self.looked_at:
            return UNKNOWN
        return f"{self.broken:,} of {self.looked_at:,}" if self.broken else HOLDS


COLUMNS: tuple[Column[RuleResult], ...] = (
    Column("endpoint", "", lambda one: one.endpoint),
    Column("side", "", lambda one: one.side),
    Column("rule", "", lambda one: one.rule.name),
    Column("section", "", lambda one: one.rule.section),
    Column("looked_at", "", lambda one: one.looked_at),
    Column("broken", "", lambda one: one.broken),
    Column("worst", "", lambda one: one.worst),
)


def rule_results(made: Sequence[MeetingRun]) -> tuple[RuleResult, ...]:
    """Return what each rule found of each endpoint and side that left a log."""
    found: dict[tuple[str, str], list[tuple[str, Sequence[Finding]]]] = {}
    for run in made:
        for side, findings in run.value.findings.items() if isinstance(run, MadeRun) else ():
            if findings:
                of_side = found.setdefault((run.run.values[side], side), [])
                of_side.append((run.run.values["case"], findings))
    return tuple(
        _result(rule, endpoint, side, each)
        for (endpoint, side), each in sorted(found.items())
        for rule in RULES
    )


def _result(
    rule: Rule, endpoint: str, side: str, found: Sequence[tuple[str, Sequence[Finding]]]
) -> RuleResult:
    of_rule = [(case, one) for case, each in found for one in each if one.rule == rule.name]
    case, _ = max(of_rule, key=lambda each: each[1].excess)
    (sum_,) = together([[one] for _, one in of_rule])
    worst = f"{sum_.worst}, in {case}" if sum_.broken else ""
    return RuleResult(rule, endpoint, side, sum_.looked_at, sum_.broken, worst)


def rules_table(results: Sequence[RuleResult]) -> Table:
    """Return a row for each rule, with a column for people for each endpoint and side."""
    columns = tuple(dict.fromkeys(one.column for one in results))
    cells = {(one.rule.name, one.column): one.words for one in results}
    rows = [
        (rule.name, rule.section, *(cells[rule.name, column] for column in columns))
        for rule in RULES
    ]
    note = "how often a rule was broken of all the times that it could be; - if its log lacks it"
    people = Table.of_texts("Rules over qlog", ("rule", "demanded by", *columns), rows, note)
    values = [tuple(column.of(one) for column in COLUMNS) for one in results]
    return Table.of_values("rules", [column.key for column in COLUMNS], values, people)


def broken_rules(results: Sequence[RuleResult]) -> str:
    """Return a line for each broken rule: where it was broken most, and what it demands."""
    return "".join(_line(one) for one in results if one.broken)


def _line(one: RuleResult) -> str:
    return f"{one.column}: {one.rule.name} ({one.rule.demands}): {one.worst}\n"


def rule_cases(results: Sequence[RuleResult]) -> Iterator[JunitCase]:
    """Yield a case of JUnit for each rule that could be broken; one that was is a failure."""
    for one in results:
        if one.looked_at:
            name = f"{one.column}: {one.rule.name}"
            yield JunitCase("qlog", name, 0.0, "failure" if one.broken else None, one.worst)


def unread_logs(made: Sequence[MeetingRun]) -> str:
    """Return a line for each log that was not read."""
    return "".join(
        f"{words}\n" for run in made if isinstance(run, MadeRun) for words in run.value.unread
    )
