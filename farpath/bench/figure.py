"""Figures: one measured value each, its goal and how it was got; and their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from farpath.tools.tc import QueueSample

#: What a full segment of a 1500-byte packet carries: without IP's 20 bytes, TCP's 20
#: and the 12 of its timestamp option.
SEGMENT_BYTES = 1448


class UnavailableError(Exception):
    """This machine cannot give a figure; the text says why and what to do."""


@dataclass(frozen=True)
class Goal:
    """A number that a figure should not exceed, or should not fall below."""

    number: float
    at_most: bool

    def reached_by(self, value: float) -> bool:
        """Whether a value is on the right side, or the number itself."""
        return value <= self.number if self.at_most else value >= self.number

    def as_dict(self) -> dict[str, Any]:
        """The number and which side of it is wanted."""
        return {"number": self.number, "wanted": "at most" if self.at_most else "at least"}


@dataclass(frozen=True)
class Figure:
    """One measured value; None where it cannot be had, and ``how`` says why."""

    title: str
    value: float | None
    unit: str
    goal: Goal | None
    how: str
    estimated: bool = False

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None without a value or a goal."""
        if self.value is None or self.goal is None:
            return None
        return self.goal.reached_by(self.value)

    def as_dict(self) -> dict[str, Any]:
        """Plain dicts, texts and numbers."""
        return {
            "title": self.title,
            "value": self.value,
            "unit": self.unit,
            "goal": None if self.goal is None else self.goal.as_dict(),
            "reached": self.reached,
            "estimated": self.estimated,
            "how": self.how,
        }


@dataclass(frozen=True)
class Cost:
    """What a run delivered and what CPU time it took, its start included."""

    delivered_bytes: float
    cpu_s: float


def segments(delivered_bytes: float) -> float:
    """Full segments in so many bytes of payload.

    >>> segments(2896)
    2.0
    """
    return delivered_bytes / SEGMENT_BYTES


def packets_per_cpu_s(short: Cost, long: Cost) -> float | None:
    """Data packets per CPU second, from two runs that differ in length alone.

    The difference holds nothing of the start and the end, which are equal. None if
    the longer run did not take longer.

    >>> packets_per_cpu_s(Cost(1448e3, 2.0), Cost(1448e3 + 1448e4, 3.0))
    10000.0
    """
    cpu_s = long.cpu_s - short.cpu_s
    delivered_bytes = long.delivered_bytes - short.delivered_bytes
    if cpu_s <= 0 or delivered_bytes <= 0:
        return None
    return segments(delivered_bytes) / cpu_s


def extrapolated(total: float, start: float, carried_bytes: float, wanted_bytes: float) -> float:
    """What a run costs that carries ``wanted_bytes``, from one that carried fewer.

    ``start`` is the part of the ``total`` that does not grow with the traffic.

    >>> extrapolated(total=5.0, start=2.0, carried_bytes=100.0, wanted_bytes=1000.0)
    32.0
    """
    return start + (total - start) * wanted_bytes / carried_bytes


def ratio(value: float | None, other: float | None) -> float | None:
    """``value / other``; None if either is unknown or nothing.

    >>> ratio(6.0, 3.0), ratio(None, 3.0), ratio(6.0, 0.0)
    (2.0, None, None)
    """
    return value / other if value is not None and other else None


def longest_backlog(samples: Sequence[QueueSample]) -> Sequence[QueueSample]:
    """The longest stretch of samples that each found packets waiting."""
    best = range(0)
    begin = 0
    for at, sample in enumerate(samples):
        if sample.backlog_packets == 0:
            begin = at + 1
        elif at + 1 - begin > len(best):
            best = range(begin, at + 1)
    return [samples[at] for at in best]


def rate_error_percent(samples: Sequence[QueueSample], rate_bps: float) -> float | None:
    """How far a queue's rate was off while packets waited in it, in per cent.

    None with fewer than two such samples in a row.
    """
    waiting = longest_backlog(samples)
    if len(waiting) < 2:
        return None
    first, last = waiting[0], waiting[-1]
    measured_bps = 8 * (last.bytes - first.bytes) / (last.t_s - first.t_s)
    return 100 * abs(measured_bps / rate_bps - 1)
