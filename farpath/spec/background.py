"""Background: other people's traffic on a path, as plain data, shared by host and guest.

Sources that neither know nor heed the flows: each sends at a constant rate while it is
on, and on and off take turns. How long each lasts is drawn from exponential
distributions, the usual on/off model (Jain and Routhier, *Packet Trains*, IEEE JSAC 4(6),
1986, call an on period a train).
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from farpath.base.errors import BadInputError

SOURCES_RANGE = (1, 64)
#: The part of a bottleneck's rate that all sources may take on average.
PART_RANGE = (0.0, 0.9)
RATE_BPS_RANGE = (100_000, 10_000_000_000)
#: Shorter turns than this would be bursts of few packets, longer ones no traffic at all.
TURN_S_RANGE = (0.1, 10_000.0)


@dataclass(frozen=True)
class Background:
    """Independent on/off sources that share a path's bottleneck with the flows.

    ``rate_bps``: of one source while it is on, counted over Ethernet frames as the
    bottleneck's. ``on_s``, ``off_s``: mean length of its turns; with ``off_s`` 0 it is on all
    the time, at a constant bit rate. Raises :class:`~farpath.base.errors.BadInputError` for a value
    out of range.
    """

    sources: int
    rate_bps: int
    on_s: float
    off_s: float

    def __post_init__(self) -> None:
        for name, (low, high) in {
            "sources": SOURCES_RANGE,
            "rate_bps": RATE_BPS_RANGE,
            "on_s": TURN_S_RANGE,
            "off_s": TURN_S_RANGE,
        }.items():
            value = getattr(self, name)
            always_on = name == "off_s" and value == 0
            if not always_on and not low <= value <= high:
                raise BadInputError(
                    f"background.{name} is {value:g}: it must lie between {low:g} and {high:g}"
                )

    @classmethod
    def taking(
        cls, part: float, rate_bps: float, sources: int, on_s: float, off_s: float
    ) -> Background | None:
        """Sources that take ``part`` of a rate on average; None if less than one can send."""
        one_bps = round(part * rate_bps * (on_s + off_s) / on_s / sources)
        return cls(sources, one_bps, on_s, off_s) if one_bps >= RATE_BPS_RANGE[0] else None

    @classmethod
    def constant(cls, rate_bps: int) -> Background:
        """One source of a constant bit rate."""
        return cls(1, rate_bps, TURN_S_RANGE[1], 0.0)

    @property
    def on_part(self) -> float:
        """The part of time for which a source is on."""
        return self.on_s / (self.on_s + self.off_s)

    @property
    def mean_rate_bps(self) -> float:
        """What all sources send on average."""
        return self.sources * self.rate_bps * self.on_part

    def __str__(self) -> str:
        on_periods = f"on {self.on_s:g} s, off {self.off_s:g} s" if self.off_s else "always on"
        return f"{self.sources} x {self.rate_bps / 1e6:g} Mbit/s, {on_periods}"


@dataclass(frozen=True)
class OnPeriod:
    """One time for which a source is on, in s from the schedule's start."""

    source: int
    start_s: float
    stop_s: float


def on_periods(background: Background, seed: int, duration_s: float) -> tuple[OnPeriod, ...]:
    """All turns of all sources until ``duration_s``, by their start; equal for equal seeds.

    A source begins on with the probability that it is on at any time; an exponential
    distribution has no memory, so what is left of that turn is as long as a new one.
    Times are whole microseconds.
    """
    if not background.off_s:
        return tuple(OnPeriod(source, 0.0, duration_s) for source in range(background.sources))
    found = []
    for source in range(background.sources):
        chance = random.Random(f"background {seed} {source}")
        on = chance.random() < background.on_part
        at_s = 0.0
        while at_s < duration_s:
            mean_s = background.on_s if on else background.off_s
            until_s = round(at_s + chance.expovariate(1 / mean_s), 6)
            if on and until_s > at_s:
                found.append(OnPeriod(source, at_s, min(until_s, duration_s)))
            at_s, on = until_s, not on
    return tuple(sorted(found, key=lambda turn: (turn.start_s, turn.source)))


def sent_bytes(background: Background, seed: int, duration_s: float) -> float:
    """Bytes of frames that the sources send in all."""
    on_s = sum(turn.stop_s - turn.start_s for turn in on_periods(background, seed, duration_s))
    return background.rate_bps / 8 * on_s
