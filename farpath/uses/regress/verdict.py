"""The verdict on a run compared with a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from farpath.spec.hosts import SIDES
from farpath.uses.regress.baseline import BaselineRun, Interval, value_text

#: Origin of a change, by whether it shows with the new kernel at the sender alone, and at the
#: receiver alone.
ORIGINS = {
    (True, False): "the sender",
    (False, True): "the receiver",
    (True, True): "either end alone",
    (False, False): "both ends together",
}


class CaseState(StrEnum):
    """The state of a run compared with its baseline, the worst last."""

    IDENTICAL = "identical"
    WITHIN = "within bounds"
    NEW = "not in the baseline"
    CHANGED = "changed"
    FAILED = "failed"


@dataclass(frozen=True)
class Difference:
    """A metric that is out of bounds, or that only one side has."""

    metric: str
    before: Interval | None
    after: float | None

    @property
    def bounds(self) -> str:
        """The bounds for people, or "none"."""
        return "none" if self.before is None else str(self.before)

    @property
    def relative_change(self) -> str:
        """The relative change in per cent, if the value before was a number other than 0."""
        value = self.before.value if self.before else None
        return (
            f"{100 * (self.after / value - 1):+.2g} %" if value and self.after is not None else ""
        )

    def __str__(self) -> str:
        before = "none" if self.before is None else value_text(self.before.value)
        change = f" ({self.relative_change})" if self.relative_change else ""
        return f"{self.metric}: {before} -> {value_text(self.after)}{change}, bounds {self.bounds}"


@dataclass(frozen=True)
class CaseVerdict:
    """A trial's name, its state, the differences, and the reason of a failure.

    ``fingerprint`` and ``metrics`` are those of the judged run; they are empty if it failed.
    ``sides``: of a run that changed, its states with the kernel after the change at one side alone,
    by side; empty if that was not asked.
    """

    trial: str
    state: CaseState
    differences: tuple[Difference, ...] = ()
    why: str = ""
    fingerprint: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    wall_s: float = 0.0
    sides: Mapping[str, CaseState] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """The end that the change comes from, for people; empty if that was not asked."""
        if not self.sides:
            return ""
        if CaseState.FAILED in self.sides.values():
            return "unknown, a run failed"
        sender, receiver = (self.sides[side] == CaseState.CHANGED for side in SIDES)
        return ORIGINS[sender, receiver]

    @property
    def stack(self) -> str:
        """The name of the stack."""
        return self.trial.partition("/")[0]

    @property
    def case(self) -> str:
        """The name of the case."""
        return self.trial.partition("/")[2]


def judge(
    trial: str, before: BaselineRun | None, fingerprint: str, metrics: Mapping[str, float]
) -> CaseVerdict:
    """Compare a run with its baseline, first by its fingerprint, then by its metrics."""
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


def worst_state(verdicts: Sequence[CaseVerdict]) -> CaseState:
    """Return the worst state of all verdicts."""
    order = list(CaseState)
    return max(
        (verdict.state for verdict in verdicts), key=order.index, default=CaseState.IDENTICAL
    )


def count_states(verdicts: Iterable[CaseVerdict]) -> dict[CaseState, int]:
    """Count the verdicts in each state; every state is a key."""
    by_state = dict.fromkeys(CaseState, 0)
    for verdict in verdicts:
        by_state[verdict.state] += 1
    return by_state
