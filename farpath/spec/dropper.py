"""Dropper: a rule that drops packets on purpose, as plain data.

A dropper counts the packets of its flows in its direction, in the order in which they leave
the path's delay line before the bottleneck, and drops some of them. Their number, time or
chance decides which:

``every:1000``        each thousandth packet
``packets:100,2000``  the hundredth and the two-thousandth packet
``at:30s,60s``        the first packet after each of these times
``random:1e-4``       each packet with this probability, drawn from the plan's seed
``burst:1e-4,0.3``    packets in the bad state of a Gilbert-Elliott chain, given the
                      probabilities to enter and to leave it and, optionally, a third one
                      to lose a packet in it (default 1)
``outage:5s,8s``      all packets from the first of two times on until the second; further pairs of
                      times are further outages

Towards the receiver it counts data packets, which are those above half the MTU; towards the
sender it counts all packets of a flow.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.spec.seeds import stream

#: The kind that drops all packets of a time, and the kinds whose numbers are times in s.
OUTAGE = "outage"
KINDS = ("every", "packets", "at", "random", "burst", OUTAGE)
BY_TIME = ("at", OUTAGE)
#: Directions towards the receiver and towards the sender.
THERE, BACK = "there", "back"
DIRECTIONS = (THERE, BACK)
#: Most packets that a dropper can count: nftables uses 32 bits (net/netfilter/nft_numgen.c).
MOST_PACKETS = 2**32 - 2
#: Most numbers in ``packets``; a larger set takes the guest much time to load and much memory.
MOST_LISTED = 100_000
#: Least probability of ``random``: some two hundred losses among the packets that can be counted.
LEAST_RANDOM_CHANCE = 5e-8
#: Losses of ``random``, about, after which their pattern repeats: a larger one takes the guest much
#: time to load and much memory.
PATTERN_LOSSES = 20_000
#: Least probability of ``burst``; below it, no packet that can be counted would be dropped.
LEAST_BURST_CHANCE = 1e-12


@dataclass(frozen=True)
class Dropper:
    """A rule that selects packets to drop.

    ``kind``: one of ``KINDS``. ``numbers``: its packet numbers, probabilities, or times in s.
    ``direction``: one of ``DIRECTIONS``. ``flow``: the name of one flow; if empty, all flows are
    counted together. Raises BadInputError for an unknown kind or direction and wrong numbers.
    """

    kind: str
    numbers: tuple[float, ...]
    direction: str = THERE
    flow: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadInputError(
                option="drop", given=self.kind, remedy=f"it must be one of {', '.join(KINDS)}"
            )
        if self.direction not in DIRECTIONS:
            raise BadInputError(
                option="drop",
                problem=f"its direction is '{self.direction}'",
                remedy=f"it must be {THERE}, towards the receiver, or {BACK}, towards the sender",
            )
        if remedy := _REMEDIES[self.kind](self.numbers):
            raise BadInputError(
                option="drop", given=f"{self.kind}:{_listed(self.numbers)}", remedy=remedy
            )

    def __str__(self) -> str:
        unit = "s" if self.kind in BY_TIME else ""
        direction = f",direction={self.direction}" if self.direction != THERE else ""
        flow = f",flow={self.flow}" if self.flow else ""
        return f"{self.kind}:{','.join(f'{n:.12g}{unit}' for n in self.numbers)}{direction}{flow}"

    @property
    def spans_s(self) -> tuple[tuple[float, float], ...]:
        """The begin and end of each outage, in s from the schedule's start; none of other kinds."""
        times_s = self.numbers if self.kind == OUTAGE else ()
        return tuple(zip(times_s[::2], times_s[1::2], strict=True))

    @property
    def cycle_packets(self) -> int:
        """The number of packets after which the dropper begins anew; only ``random`` gets there."""
        most = MOST_PACKETS + 1
        return min(most, round(PATTERN_LOSSES / self.numbers[0])) if self.kind == "random" else most

    def positions(self, seed: int, count: int) -> tuple[int, ...]:
        """Return the numbers, from 1, of the packets that are dropped among the first ``count``.

        Those of one cycle, and only for the kinds ``packets``, ``random`` and ``burst``.
        """
        if self.kind == "packets":
            return tuple(int(number) for number in self.numbers if number <= count)
        chance = stream(seed, "dropper", self)
        if self.kind == "random":
            return tuple(_independent(chance, min(count, self.cycle_packets), *self.numbers))
        return tuple(_bursts(chance, count, *self.numbers))

    def expected(self, seen: int, seed: int) -> int | None:
        """Return how many of the packets that the dropper has seen it must have dropped.

        None of an outage, in which that is how many come.
        """
        if self.kind == OUTAGE:
            return None
        if self.kind == "every":
            return seen // int(self.numbers[0])
        if self.kind == "packets" or self.kind == "at":
            return len(self.numbers)
        cycles, rest = divmod(seen, self.cycle_packets)
        whole = cycles * len(self.positions(seed, self.cycle_packets)) if cycles else 0
        return whole + len(self.positions(seed, rest))


def _independent(chance: random.Random, count: int, loss: float) -> Iterator[int]:
    """Yield the numbers of the packets that are lost of the first ``count``, each by chance."""
    at = _geometric(chance, loss)
    while at <= count:
        yield at
        at += _geometric(chance, loss)


def _bursts(
    chance: random.Random, count: int, enter: float, leave: float, loss: float = 1.0
) -> Iterator[int]:
    """Yield the numbers of the packets that a Gilbert-Elliott chain drops of the first ``count``.

    The state may change before each packet. The number of packets until it does is drawn from
    a geometric distribution. Source: Elliott, *Estimates of Error Rates for Codes on
    Burst-Noise Channels*, Bell System Technical Journal 42(5), 1963.
    """
    at = _geometric(chance, enter)
    while at <= count:
        last = at + _geometric(chance, leave)
        for number in range(at, min(last, count + 1)):
            if loss == 1.0 or chance.random() < loss:
                yield number
        at = last + _geometric(chance, enter)


def _geometric(chance: random.Random, probability: float) -> int:
    """Draw the number of trials until the first success, at least one."""
    if probability == 1.0:
        return 1
    return 1 + math.floor(math.log(1.0 - chance.random()) / math.log1p(-probability))


def _listed(numbers: Iterable[float]) -> str:
    return ",".join(f"{number:.12g}" for number in numbers)


def _whole(numbers: Sequence[float]) -> bool:
    return all(number == int(number) and 1 <= number <= MOST_PACKETS for number in numbers)


def _remedy_of_every(numbers: Sequence[float]) -> str:
    fits = len(numbers) == 1 and _whole(numbers)
    return "" if fits else f"give one whole number from 1 to {MOST_PACKETS}, as in every:1000"


def _remedy_of_packets(numbers: Sequence[float]) -> str:
    if not numbers or not _whole(numbers):
        return f"give whole numbers from 1 to {MOST_PACKETS}, as in packets:1000,2000"
    if list(numbers) != sorted(set(numbers)):
        return "give each packet once, in their order"
    return "" if len(numbers) <= MOST_LISTED else f"give at most {MOST_LISTED} packets"


def _remedy_of_at(numbers: Sequence[float]) -> str:
    if not numbers or any(not 0 <= number < math.inf for number in numbers):
        return "give times of the schedule, as in at:30s,60s"
    return "" if list(numbers) == sorted(set(numbers)) else "give each time once, in their order"


def _remedy_of_random(numbers: Sequence[float]) -> str:
    if len(numbers) == 1 and LEAST_RANDOM_CHANCE <= numbers[0] <= 1:
        return ""
    return f"give one probability from {LEAST_RANDOM_CHANCE:g} to 1, as in random:1e-4"


def _remedy_of_burst(numbers: Sequence[float]) -> str:
    possible = all(LEAST_BURST_CHANCE <= number <= 1 for number in numbers)
    if len(numbers) in (2, 3) and possible:
        return ""
    return f"give two or three probabilities from {LEAST_BURST_CHANCE:g} to 1, as in burst:1e-4,0.3"


def _remedy_of_outage(numbers: Sequence[float]) -> str:
    if not numbers or len(numbers) % 2 or any(not 0 <= number < math.inf for number in numbers):
        return "give begin and end of each outage, as in outage:5s,8s"
    return "" if list(numbers) == sorted(set(numbers)) else "give the times in their order"


_REMEDIES = {
    "every": _remedy_of_every,
    "packets": _remedy_of_packets,
    "at": _remedy_of_at,
    "random": _remedy_of_random,
    "burst": _remedy_of_burst,
    OUTAGE: _remedy_of_outage,
}
