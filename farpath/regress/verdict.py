"""Verdict: what became of a run against a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from farpath.regress.baseline import BaselineRun, Interval, number


class CaseState(StrEnum):
    """What a run is against its baseline, the worst last."""

    IDENTICAL = "identical"
    WITHIN = "within bounds"
    NEW = "not in the baseline"
    CHANGED = "changed"
    FAILED = "failed"


@dataclass(frozen=True)
class Difference:
    """A metric that is out of bounds, or that only one of both has."""

    metric: str
    before: Interval | None
    after: float | None

    @property
    def bounds(self) -> str:
        """The bounds for people, or that there are none."""
        return "none" if self.before is None else str(self.before)

    @property
    def part(self) -> str:
        """The change as a part of what was before, where that is a number but 0."""
        value = self.before.value if self.before else None
        return (
            f"{100 * (self.after / value - 1):+.2g} %" if value and self.after is not None else ""
        )

    def __str__(self) -> str:
        before = "none" if self.before is None else number(self.before.value)
        part = f" ({self.part})" if self.part else ""
        return f"{self.metric}: {before} -> {number(self.after)}{part}, bounds {self.bounds}"


@dataclass(frozen=True)
class CaseVerdict:
    """A trial's name, its state, what changed, and for a failure why.

    ``fingerprint`` and ``metrics``: of the run that is judged; empty if it failed.
    """

    trial: str
    state: CaseState
    differences: tuple[Difference, ...] = ()
    why: str = ""
    fingerprint: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    wall_s: float = 0.0

    @property
    def stack(self) -> str:
        """The stack's name."""
        return self.trial.partition("/")[0]

    @property
    def case(self) -> str:
        """The case's name."""
        return self.trial.partition("/")[2]


def judge(
    trial: str, before: BaselineRun | None, fingerprint: str, metrics: Mapping[str, float]
) -> CaseVerdict:
    """A run against what is known of it: first by its fingerprint, then by its metrics."""
    if before is None:
        return CaseVerdict(trial, CaseState.NEW, (), "", fingerprint, metrics)
    if before.fingerprint == fingerprint:
        return CaseVerdict(trial, CaseState.IDENTICAL, (), "", fingerprint, metrics)
    differences = tuple(_differences(before.bounds, metrics))
    state = CaseState.CHANGED if differences else CaseState.WITHIN
    return CaseVerdict(trial, state, differences, "", fingerprint, metrics)


def _differences(
    bounds: Mapping[str, Interval], metrics: Mapping[str, float]
) -> Iterable[Difference]:
    for name in dict.fromkeys((*bounds, *metrics)):
        before, after = bounds.get(name), metrics.get(name)
        if before is None or not before.holds(after):
            yield Difference(name, before, after)


def worst(verdicts: Sequence[CaseVerdict]) -> CaseState:
    """The worst state of all."""
    order = list(CaseState)
    return max(
        (verdict.state for verdict in verdicts), key=order.index, default=CaseState.IDENTICAL
    )


def counts(verdicts: Iterable[CaseVerdict]) -> dict[CaseState, int]:
    """How many are in each state, all states named."""
    found = dict.fromkeys(CaseState, 0)
    for verdict in verdicts:
        found[verdict.state] += 1
    return found
