"""Background: competing traffic on a path from independent on/off sources.

The sources do not react to the flows. Each sends at a constant rate during its on periods,
which alternate with off periods. The lengths of both are drawn from exponential
distributions, the usual on/off model (Jain and Routhier, *Packet Trains*, IEEE JSAC 4(6),
1986, call an on period a train).
"""

from __future__ import annotations

from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.spec.seeds import stream

SOURCES_RANGE = (1, 64)
#: Allowed fraction of a bottleneck's rate that all sources take on average.
PART_RANGE = (0.0, 0.9)
#: Range of rates, of bottlenecks too: netem and tbf use nanoseconds, and a 1500-byte frame at
#: 10 Gbit/s takes 1.2 us.
RATE_BPS_RANGE = (100_000, 10_000_000_000)
#: Mean length of on and off periods in s. Shorter on periods would be bursts of few packets;
#: longer off periods would be no traffic at all.
TURN_S_RANGE = (0.1, 10_000.0)


@dataclass(frozen=True)
class Background:
    """Independent on/off sources that share a path's bottleneck with the flows.

    ``sources``: their number. ``rate_bps``: rate of one source while it is on, counted over
    Ethernet frames as the bottleneck's rate is. ``on_s``, ``off_s``: mean length of its on and
    off periods in s. With ``off_s`` 0 a source is always on, at a constant bit rate. Raises
    BadInputError for a value out of range.
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
                    option="background",
                    problem=f"{name} is {value:g}",
                    remedy=f"it must lie between {low:g} and {high:g}",
                )

    @classmethod
    def taking(
        cls, part: float, rate_bps: float, sources: int, on_s: float, off_s: float
    ) -> Background | None:
        """Return sources that send a fraction ``part`` of a rate on average.

        None if the rate of one source would be below the least allowed rate.
        """
        source_bps = round(part * rate_bps * (on_s + off_s) / on_s / sources)
        return cls(sources, source_bps, on_s, off_s) if source_bps >= RATE_BPS_RANGE[0] else None

    @classmethod
    def constant(cls, rate_bps: int) -> Background:
        """Return one source of a constant bit rate."""
        return cls(1, rate_bps, TURN_S_RANGE[1], 0.0)

    @property
    def on_part(self) -> float:
        """Fraction of the time for which a source is on."""
        return self.on_s / (self.on_s + self.off_s)

    @property
    def mean_rate_bps(self) -> float:
        """Mean rate of all sources together."""
        return self.sources * self.rate_bps * self.on_part

    def __str__(self) -> str:
        on_periods = f"on {self.on_s:g} s, off {self.off_s:g} s" if self.off_s else "always on"
        return f"{self.sources} x {self.rate_bps / 1e6:g} Mbit/s, {on_periods}"


@dataclass(frozen=True)
class OnPeriod:
    """One on period of a source, in s from the schedule's start."""

    source: int
    start_s: float
    stop_s: float


def on_periods(background: Background, seed: int, duration_s: float) -> tuple[OnPeriod, ...]:
    """Return the on periods of all sources until ``duration_s``, ordered by their start.

    They are equal for equal seeds, and times are whole microseconds. At the start a source is on
    with the probability ``on_part``. The exponential distribution has no memory, so the rest of
    a period that has already started is distributed as a new period.
    """
    if not background.off_s:
        return tuple(OnPeriod(source, 0.0, duration_s) for source in range(background.sources))
    periods = []
    for source in range(background.sources):
        chance = stream(seed, "background", source)
        on = chance.random() < background.on_part
        at_s = 0.0
        while at_s < duration_s:
            mean_s = background.on_s if on else background.off_s
            until_s = round(at_s + chance.expovariate(1 / mean_s), 6)
            if on and until_s > at_s:
                periods.append(OnPeriod(source, at_s, min(until_s, duration_s)))
            at_s, on = until_s, not on
    return tuple(sorted(periods, key=lambda period: (period.start_s, period.source)))


def sent_bytes(background: Background, seed: int, duration_s: float) -> float:
    """Return how many bytes of frames all sources send until ``duration_s``."""
    periods = on_periods(background, seed, duration_s)
    on_s = sum(period.stop_s - period.start_s for period in periods)
    return background.rate_bps / 8 * on_s
