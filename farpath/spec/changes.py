"""Changes: a rate or an RTT that changes during a run, and what it is when.

Times count from the start of the schedule. A value holds from its time on, that moment included.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from farpath.base.errors import BadInputError

#: Range of the time of a change: from the lab's least time between two samples on, so that each
#: value holds long enough to be seen, to the longest run.
CHANGE_S_RANGE = (0.01, 86_400.0)
#: Most changes of a path: ten a second for more than 15 minutes.
MOST_CHANGES = 10_000


def times_problem(at_s: Sequence[float], period_s: float) -> str:
    """Return what is wrong with the times of changes, in words; empty if nothing is.

    ``period_s``: time after which the values begin again with the first; 0 for never.

    >>> times_problem([1.0, 1.0], 0.0)
    'its times must rise, and 1 s comes after 1 s'
    """
    low, high = CHANGE_S_RANGE
    if not 0 < len(at_s) <= MOST_CHANGES:
        return f"it has {len(at_s):,} changes, and 1 to {MOST_CHANGES:,} are possible"
    for time_s in at_s:
        if not low <= time_s <= high:
            return f"it changes at {time_s:g} s, and changes must be at {low:g} to {high:,g} s"
    for before_s, after_s in pairwise(at_s):
        if after_s <= before_s:
            return f"its times must rise, and {after_s:g} s comes after {before_s:g} s"
    if period_s and not at_s[-1] < period_s <= high:
        return (
            f"it begins again after {period_s:g} s, which must be after its last change at "
            f"{at_s[-1]:g} s and at most {high:,g} s"
        )
    return ""


@dataclass(frozen=True)
class _Changes:
    """When a value changes; ``period_s``: when it begins again with the first one, 0 for never."""

    at_s: tuple[float, ...]
    period_s: float = 0.0

    def __str__(self) -> str:
        count = f"{len(self.at_s):,} change{'s' if len(self.at_s) > 1 else ''}"
        return f"{count} in {self.period_s:g} s" if self.period_s else count

    def _check(
        self, name: str, values: Sequence[float], allowed: tuple[float, float], unit: str
    ) -> None:
        if problem := times_problem(self.at_s, self.period_s):
            raise BadInputError(option=name, problem=problem)
        if len(values) != len(self.at_s):
            raise BadInputError(
                option=name,
                problem=f"it has {len(self.at_s)} times of changes and {len(values)} values",
                remedy="give as many",
            )
        low, high = allowed
        for value in values:
            if not low <= value <= high:
                raise BadInputError(
                    option=name,
                    problem=f"it changes to {value:.12g} {unit}",
                    remedy=f"it must lie between {low:.12g} and {high:.12g} {unit}",
                )


@dataclass(frozen=True)
class RateChanges(_Changes):
    """When the rate of a path changes, and to what: ``rate_bps`` has one for each of ``at_s``."""

    rate_bps: tuple[int, ...] = ()

    def check(self, allowed_bps: tuple[float, float]) -> None:
        """Raise BadInputError for times that do not rise, and for a rate out of a range."""
        self._check("rate", self.rate_bps, allowed_bps, "bit/s")


@dataclass(frozen=True)
class RttChanges(_Changes):
    """When the RTT of a path changes, and to what: ``rtt_ms`` has one for each of ``at_s``."""

    rtt_ms: tuple[float, ...] = ()

    def check(self, allowed_ms: tuple[float, float]) -> None:
        """Raise BadInputError for times that do not rise, and for an RTT out of a range."""
        self._check("rtt", self.rtt_ms, allowed_ms, "ms")


@dataclass(frozen=True)
class Timeline:
    """A value over a time of ``duration_s``: ``values`` hold from ``at_s`` on, the first from 0."""

    at_s: tuple[float, ...]
    values: tuple[float, ...]
    duration_s: float

    @property
    def changes(self) -> tuple[tuple[float, float], ...]:
        """The changes after the start, each with its time in s and its new value."""
        return tuple(zip(self.at_s, self.values, strict=True))[1:]

    def at(self, time_s: float) -> float:
        """Return the value at a time.

        >>> Timeline((0.0, 2.0), (8.0, 4.0), 6.0).at(2.0)
        4.0
        """
        return self.values[max(0, bisect_right(self.at_s, time_s) - 1)]

    def integral(self, start_s: float, stop_s: float) -> float:
        """Return the integral over a time: of a rate in bit/s the bits that it carries.

        >>> Timeline((0.0, 2.0), (8.0, 4.0), 6.0).integral(1.0, 4.0)
        16.0
        """
        ends_s = (*self.at_s[1:], math.inf)
        return math.fsum(
            value * (min(end_s, stop_s) - max(begin_s, start_s))
            for begin_s, end_s, value in zip(self.at_s, ends_s, self.values, strict=True)
            if min(end_s, stop_s) > max(begin_s, start_s)
        )

    @property
    def mean(self) -> float:
        """The mean over the whole time; the value itself if it never changes."""
        if len(self.values) == 1:
            return self.values[0]
        return self.integral(0.0, self.duration_s) / self.duration_s


def timeline(
    first: float, changes: _Changes | None, values: Sequence[float], duration_s: float
) -> Timeline:
    """Return a value over a run: the first, and its changes until the run ends.

    ``values``: one for each of the times of ``changes``. A time at which nothing changes is none.

    >>> every_3_s = RateChanges((1.0,), 3.0, (5,))
    >>> timeline(7, every_3_s, every_3_s.rate_bps, 8.0).changes
    ((1.0, 5), (3.0, 7), (4.0, 5), (6.0, 7), (7.0, 5))
    """
    at_s, kept = [0.0], [first]
    one_round = list(zip(changes.at_s, values, strict=True)) if changes else []
    period_s = changes.period_s if changes else 0.0
    rounds = math.ceil(duration_s / period_s) if period_s else 1
    for number in range(rounds):
        begin_s = number * period_s
        for time_s, value in [(0.0, first), *one_round]:
            if begin_s + time_s < duration_s and value != kept[-1]:
                at_s.append(begin_s + time_s)
                kept.append(value)
    return Timeline(tuple(at_s), tuple(kept), duration_s)
