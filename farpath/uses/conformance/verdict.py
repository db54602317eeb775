"""The verdict on a statement: the measured value next to the stated one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from farpath.metrics.estimate import Spread, spread
from farpath.uses.conformance.scenarios import Scenario, Statement
from farpath.uses.conformance.trace_parts import Measured


class State(StrEnum):
    """The outcome of a statement by a record, the worst last."""

    CONFORMS = "conforms"
    KNOWN = "differs, known"
    UNDECIDED = "not decided"
    DIFFERS = "differs"
    FAILED = "failed"


@dataclass(frozen=True)
class Verdict:
    """A statement of a scenario, and the result of its run.

    ``value`` and ``stated`` are NaN where there is none. ``why``: why it is not decided or failed,
    or why Linux differs knowingly. ``values``: of several draws of the run the values of all that
    have one; ``value`` is then the one in the middle.
    """

    scenario: Scenario
    statement: Statement
    state: State
    value: float = math.nan
    stated: float = math.nan
    why: str = ""
    values: tuple[float, ...] = ()

    @property
    def measured(self) -> Spread:
        """The value, and its range over draws."""
        return replace(spread(self.values or (self.value,)), median=self.value)

    @property
    def name(self) -> str:
        """The statement for people: ``timeout/loss-window``."""
        return f"{self.scenario.name}/{self.statement.name}"

    @property
    def deviation(self) -> str:
        """The distance from the stated value, in per cent where that is not 0."""
        if not math.isfinite(self.value):
            return ""
        if not self.stated:
            return f"{self.value - self.stated:+.2g}"
        return f"{100 * (self.value / self.stated - 1):+.1f} %"


def judge(scenario: Scenario, statement: Statement, measured: Measured) -> Verdict:
    """Hold a measured value against a statement."""
    stated = measured.stated if statement.stated is None else statement.stated
    value = measured.value
    if not (math.isfinite(value) and math.isfinite(stated)):
        why = measured.why or "there is no finite value"
        return Verdict(scenario, statement, State.UNDECIDED, value, stated, why)
    if statement.allows(value, stated):
        return Verdict(scenario, statement, State.CONFORMS, value, stated)
    state = State.KNOWN if statement.known else State.DIFFERS
    return Verdict(scenario, statement, state, value, stated, statement.known)


def failed(scenario: Scenario, why: str) -> list[Verdict]:
    """Return the verdicts on a scenario whose run failed."""
    return [
        Verdict(scenario, statement, State.FAILED, why=why) for statement in scenario.statements
    ]


def of_draws(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on one statement by several draws: that of the draw in the middle.

    Draws stand in the order of their distance from what is stated there. What half of them or more
    could not decide, or failed in, is not decided or failed.
    """
    without = (State.UNDECIDED, State.FAILED)
    decided = [verdict for verdict in verdicts if verdict.state not in without]
    if 2 * len(decided) <= len(verdicts):
        return next(verdict for verdict in verdicts if verdict not in decided)
    ordered = sorted(decided, key=lambda verdict: verdict.value - verdict.stated)
    middle = ordered[(len(ordered) - 1) // 2]
    return replace(middle, values=tuple(verdict.value for verdict in decided))


def count_states(verdicts: Iterable[Verdict]) -> dict[State, int]:
    """Count the verdicts in each state that occurs, the best first."""
    states = [verdict.state for verdict in verdicts]
    return {state: states.count(state) for state in State if state in states}
