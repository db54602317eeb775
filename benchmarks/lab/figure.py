"""Figures of the benchmark, each with its goal and method, and the calculations for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from farpath.tools.tc import QueueSample

#: The payload of a full segment in a 1500-byte packet: without IP's 20 bytes, TCP's 20 and the 12
#: of its timestamp option.
SEGMENT_BYTES = 1448


class UnavailableError(Exception):
    """This machine cannot measure a figure; the text says why and what to do."""


@dataclass(frozen=True)
class Goal:
    """A number that a figure should not exceed, or should not fall below."""

    number: float
    at_most: bool

    def reached_by(self, value: float) -> bool:
        """Whether a value is on the right side of the goal, or equal to it."""
        return value <= self.number if self.at_most else value >= self.number

    def as_dict(self) -> dict[str, Any]:
        """Return the number and which side of it is wanted."""
        return {"number": self.number, "wanted": "at most" if self.at_most else "at least"}


@dataclass(frozen=True)
class Figure:
    """One measured value; where it could not be measured it is None, and ``how`` says why."""

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
        """Return plain dicts, texts and numbers."""
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
    """The bytes that a run delivered, and its CPU time, including its start."""

    delivered_bytes: float
    cpu_s: float


def segments(delivered_bytes: float) -> float:
    """Return the number of full segments in that many bytes of payload.

    >>> segments(2896)
    2.0
    """
    return delivered_bytes / SEGMENT_BYTES


def packets_per_s(
    delivered_bytes: tuple[float, float], took_s: tuple[float, float]
) -> float | None:
    """Return data packets per second, from a short and a long run that differ only in length.

    ``took_s``: CPU or real time of both runs. The difference cancels the cost of start and end,
    which is equal. It is None if the longer run did not take longer.

    >>> packets_per_s((1448e3, 1448e3 + 1448e4), (2.0, 3.0))
    10000.0
    """
    short_s, long_s = took_s
    fewer_bytes, more_bytes = delivered_bytes
    if long_s <= short_s or more_bytes <= fewer_bytes:
        return None
    return segments(more_bytes - fewer_bytes) / (long_s - short_s)


def extrapolated(total: float, start: float, carried_bytes: float, wanted_bytes: float) -> float:
    """Return the cost of a run that carries ``wanted_bytes``, from one that carried fewer.

    ``start`` is the part of the ``total`` that does not grow with the traffic.

    >>> extrapolated(total=5.0, start=2.0, carried_bytes=100.0, wanted_bytes=1000.0)
    32.0
    """
    return start + (total - start) * wanted_bytes / carried_bytes


def ratio(value: float | None, other: float | None) -> float | None:
    """Return ``value / other``; None if either is unknown or ``other`` is 0.

    >>> ratio(6.0, 3.0), ratio(None, 3.0), ratio(6.0, 0.0)
    (2.0, None, None)
    """
    return value / other if value is not None and other else None


def peer_figures(
    peer: str,
    titles: tuple[str, str],
    lab: float | None,
    measure: Callable[[], tuple[float, str]],
    compared: str,
    goal: Goal | None = None,
) -> dict[str, Figure]:
    """Return packets per CPU second of a peer of the lab, and the lab's rate by it.

    ``titles``: of both. ``lab``: its packets per second, None if unknown. ``measure``: returns the
    peer's with how they were measured, or raises UnavailableError, which both figures then tell.
    ``compared``: how the lab's were.
    """
    value = None
    try:
        value, how = measure()
    except UnavailableError as error:
        how = compared = f"not measured: {error}"
    return {
        f"{peer}_packets_per_cpu_s": Figure(titles[0], value, "packets/s", goal=None, how=how),
        f"lab_over_{peer}": Figure(titles[1], ratio(lab, value), "times", goal, compared),
    }


def longest_backlog(samples: Sequence[QueueSample]) -> Sequence[QueueSample]:
    """Return the longest stretch of samples in which packets were always waiting."""
    longest = range(0)
    start = 0
    for index, sample in enumerate(samples):
        if sample.backlog_packets == 0:
            start = index + 1
        elif index + 1 - start > len(longest):
            longest = range(start, index + 1)
    return [samples[index] for index in longest]


def rate_error_percent(samples: Sequence[QueueSample], rate_bps: float) -> float | None:
    """Return the error of a queue's rate while packets waited in it, in per cent.

    It is None with fewer than two such samples in a row.
    """
    waiting = longest_backlog(samples)
    if len(waiting) < 2:
        return None
    first, last = waiting[0], waiting[-1]
    measured_bps = 8 * (last.bytes - first.bytes) / (last.t_s - first.t_s)
    return 100 * abs(measured_bps / rate_bps - 1)
