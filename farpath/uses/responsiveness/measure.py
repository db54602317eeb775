"""Responsiveness under working conditions: round trips per minute, from the times of probes.

The method is that of *Responsiveness under Working Conditions*, draft-ietf-ippm-responsiveness-09,
for connections without TLS. The names of its parameters stand behind those of ``Method``.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from farpath.base.errors import BadInputError, LabFailedError

MS_PER_MINUTE = 60_000.0
#: Cost of a pair of probes on the path: about 5000 bytes for a connection of its own and 1000
#: for a request on one that is there (draft, "Measuring Responsiveness").
PAIR_BYTES = 6000
#: Words for the confidence in a result (draft, "Confidence of Test-Results").
LOW, MEDIUM, HIGH = "low", "medium", "high"
#: Times of a probe in ms: the handshake and the request of a connection of its own, and a request
#: on a connection that carries load.
HANDSHAKE, FOREIGN, LOADED = "handshake_ms", "foreign_ms", "loaded_ms"
KINDS = (HANDSHAKE, FOREIGN, LOADED)
PERCENTILES = (50, 95, 99)
#: Directions of the load, seen from the client.
DOWN, UP, BOTH = "down", "up", "both"
DIRECTIONS = (DOWN, UP, BOTH)


@dataclass(frozen=True)
class Method:
    """Parameters of the test, with the draft's defaults.

    ``direction``: of the load, one of ``DIRECTIONS``. ``interval_s`` (ID) is the time after which a
    connection is added and stability is checked; ``averaged_intervals`` (MAD) are checked together;
    ``trimmed_part`` (TMP) of the times, the smallest, are kept; ``tolerance`` (SDT) is the relative
    standard deviation of stable values; ``most_connections`` (MNP); ``probes_per_s`` (MPS) are
    pairs of probes, which take at most ``probe_part`` (PTC) of the goodput. ``limit_s``: the
    longest test, for which the draft has no default. ``seed``: of the choice of connections. Raises
    BadInputError for a value out of range.
    """

    direction: str = DOWN
    interval_s: float = 5.0
    averaged_intervals: int = 4
    trimmed_part: float = 0.95
    tolerance: float = 0.05
    most_connections: int = 16
    probes_per_s: int = 100
    probe_part: float = 0.05
    limit_s: float = 120.0
    seed: int = 1

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise BadInputError(
                option="direction",
                given=self.direction,
                remedy=f"it must be one of {', '.join(DIRECTIONS)}",
            )
        if self.limit_s < 2 * self.averaged_intervals * self.interval_s:
            least_s = 2 * self.averaged_intervals * self.interval_s
            raise BadInputError(
                option="timeout",
                given=f"{self.limit_s:g}s",
                problem=f"intervals of {self.interval_s:g} s need at least {least_s:g} s",
                remedy="give a longer `timeout` or a shorter `interval`",
            )

    def pairs_per_s(self, goodput_bps: float) -> float:
        """Return how many pairs of probes may start in a second beside a load, at least one.

        >>> Method().pairs_per_s(9.6e6), Method().pairs_per_s(1e9)
        (10.0, 100)
        """
        allowed = self.probe_part * goodput_bps / 8 / PAIR_BYTES
        return max(1.0, min(self.probes_per_s, allowed))


@dataclass(frozen=True)
class Probe:
    """A probe: its start and its end in s from the test's start, and how long it took, by kind."""

    start_s: float
    end_s: float
    times_ms: Mapping[str, float]


@dataclass(frozen=True)
class Interval:
    """An interval of the test: its end, its connections, their goodput, and the RPM.

    ``rpm``: of the last ``averaged_intervals`` intervals; None until goodput is stable.
    """

    end_s: float
    connections: int
    goodput_bps: float
    rpm: float | None = None


@dataclass(frozen=True)
class Rpm:
    """Round trips per minute: of new connections, of loaded connections, and their mean."""

    foreign: float
    loaded: float | None

    @property
    def mean(self) -> float:
        """The draft's "Responsiveness"; of an idle path the value of new connections."""
        return self.foreign if self.loaded is None else (self.foreign + self.loaded) / 2


def trimmed_mean(times_ms: Iterable[float], kept_part: float) -> float:
    """Return the mean of the smallest of some times, a part of all; at least of one.

    Raises LabFailedError without any.

    >>> trimmed_mean([1.0, 2.0, 3.0, 100.0], 0.75)
    2.0
    """
    ordered = sorted(times_ms)
    if not ordered:
        raise LabFailedError(
            "no probe came back while the path was loaded: give a longer --timeout"
        )
    return statistics.fmean(ordered[: max(1, math.floor(kept_part * len(ordered)))])


def rpm_of(probes: Iterable[Probe], kept_part: float) -> Rpm:
    """Return the RPM of probes (draft, "For the TCP-Only Case").

    >>> probe = Probe(0.0, 0.1, {HANDSHAKE: 50.0, FOREIGN: 70.0})
    >>> rpm_of([probe, Probe(0.0, 0.1, {LOADED: 120.0})], 0.95)
    Rpm(foreign=1000.0, loaded=500.0)
    """
    by_kind = times_by_kind(probes)
    handshake, foreign = (trimmed_mean(by_kind[kind], kept_part) for kind in (HANDSHAKE, FOREIGN))
    loaded = by_kind[LOADED]
    return Rpm(
        foreign=MS_PER_MINUTE / ((handshake + foreign) / 2),
        loaded=MS_PER_MINUTE / trimmed_mean(loaded, kept_part) if loaded else None,
    )


def times_by_kind(probes: Iterable[Probe]) -> dict[str, list[float]]:
    """Return the times of probes in ms, by kind."""
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for probe in probes:
        for kind, time_ms in probe.times_ms.items():
            times[kind].append(time_ms)
    return times


def is_stable(values: Sequence[float], method: Method) -> bool:
    """Whether the last values of an interval each deviate little from the newest one.

    >>> is_stable([1.0, 9.9, 10.0, 10.1, 10.0], Method()), is_stable([9.9, 10.0, 10.1], Method())
    (True, False)
    """
    last = values[-method.averaged_intervals :]
    if len(last) < method.averaged_intervals:
        return False
    return statistics.pstdev(last) < method.tolerance * last[-1]


def confidence(values: Sequence[float], method: Method) -> str:
    """Return the confidence in the last of some values: low, medium or high."""
    if len(values) < method.averaged_intervals:
        return LOW
    return HIGH if is_stable(values, method) else MEDIUM


class RpmProgress:
    """The test's state from interval to interval: goodput first, then responsiveness.

    ``ended``: whether responsiveness is stable too, or the time is over.
    """

    def __init__(self, method: Method) -> None:
        self.method = method
        self.intervals: list[Interval] = []
        self.goodput_averages: list[float] = []
        self.rpms: list[float] = []
        self.is_saturated = False
        self.ended = False

    def add(self, connections: int, received_bytes: int, probes: Sequence[Probe]) -> Interval:
        """Add an interval that has ended, and return it.

        ``received_bytes``: of its connections. ``probes``: all that have come back.
        """
        method = self.method
        end_s = (len(self.intervals) + 1) * method.interval_s
        goodput_bps = 8 * received_bytes / method.interval_s
        last = [one.goodput_bps for one in self.intervals[1 - method.averaged_intervals :]]
        rpm = None
        if self.is_saturated:
            since_s = end_s - method.averaged_intervals * method.interval_s
            recent = [probe for probe in probes if probe.end_s > since_s]
            rpm = rpm_of(recent, method.trimmed_part).mean
            self.rpms.append(rpm)
        else:
            self.goodput_averages.append(statistics.fmean([*last, goodput_bps]))
            # The rest of the time belongs to responsiveness
            self.is_saturated = (
                is_stable(self.goodput_averages, method) or end_s >= method.limit_s / 2
            )
        interval = Interval(end_s, connections, goodput_bps, rpm)
        self.intervals.append(interval)
        self.ended = is_stable(self.rpms, method) or end_s + method.interval_s > method.limit_s
        return interval


@dataclass(frozen=True)
class Responsiveness:
    """The result of a test.

    ``idle``: the RPM before any load. ``rpm``: of the last intervals. ``percentiles_ms``: of the
    same probes' times, by kind and percentile. ``capacity_confidence``, ``rpm_confidence``: low,
    medium or high. ``probes``: all; on the idle path before 0 s.
    """

    method: Method
    idle: Rpm
    rpm: Rpm
    percentiles_ms: Mapping[str, Mapping[str, float]]
    capacity_confidence: str
    rpm_confidence: str
    intervals: tuple[Interval, ...]
    probes: tuple[Probe, ...]

    @property
    def goodput_bps(self) -> float:
        """Goodput of the load in the last intervals, in bit/s of payload."""
        last = self.intervals[-self.method.averaged_intervals :]
        return statistics.fmean(one.goodput_bps for one in last)

    def as_dict(self) -> dict[str, Any]:
        """Return this as plain dicts, lists, texts and numbers, with the means."""
        return {
            **asdict(self),
            "rpm_mean": self.rpm.mean,
            "idle_mean": self.idle.mean,
            "goodput_bps": self.goodput_bps,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Responsiveness:
        """Build it from the output of ``as_dict``, or from its JSON."""
        return cls(
            method=Method(**data["method"]),
            idle=Rpm(**data["idle"]),
            rpm=Rpm(**data["rpm"]),
            percentiles_ms=data["percentiles_ms"],
            capacity_confidence=data["capacity_confidence"],
            rpm_confidence=data["rpm_confidence"],
            intervals=tuple(Interval(**one) for one in data["intervals"]),
            probes=tuple(Probe(**one) for one in data["probes"]),
        )


def result_of(
    progress: RpmProgress, idle: Sequence[Probe], probes: Sequence[Probe]
) -> Responsiveness:
    """Return the result of a test; raises LabFailedError if no probe came back."""
    method = progress.method
    since_s = progress.intervals[-1].end_s - method.averaged_intervals * method.interval_s
    last = [probe for probe in probes if probe.end_s > since_s]
    return Responsiveness(
        method=method,
        idle=rpm_of(idle, method.trimmed_part),
        rpm=rpm_of(last, method.trimmed_part),
        percentiles_ms={
            kind: {f"p{percent}": _percentile(times, percent) for percent in PERCENTILES}
            for kind, times in times_by_kind(last).items()
            if times
        },
        capacity_confidence=confidence(progress.goodput_averages, method),
        rpm_confidence=confidence(progress.rpms, method),
        intervals=tuple(progress.intervals),
        probes=(*idle, *probes),
    )


def _percentile(times_ms: Sequence[float], percent: int) -> float:
    """Return a percentile, as the smallest time that so many per cent do not exceed."""
    ordered = sorted(times_ms)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]
