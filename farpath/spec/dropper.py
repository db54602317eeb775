"""Dropper: packets lost on purpose, as plain data, shared by host and guest.

Pure. A dropper counts the packets that it concerns, in the order in which they leave the
path's delay line, before the bottleneck, and takes some of them away. Which ones is
decided by their number, by time, or by chance:

``every:1000``        each thousandth
``packets:100,2000``  the hundredth and the two-thousandth
``at:30s,60s``        the first one after each of these times
``random:1e-4``       each with this probability
``burst:1e-4,0.3``    those that come in the bad state of a Gilbert-Elliott chain: the
                      probabilities to enter and to leave it, and perhaps a third, of a loss
                      while in it (1)

Towards the receiver it concerns data packets, those above half the MTU; towards the
sender all packets of a flow.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError

if TYPE_CHECKING:
    pass

KINDS = ("every", "packets", "at", "random", "burst")
#: Towards the receiver and towards the sender.
THERE, BACK = "there", "back"
DIRECTIONS = (THERE, BACK)
#: nftables counts in 32 bits (net/netfilter/nft_numgen.c).
MOST_PACKETS = 2**32 - 2
#: A set of more numbers than this takes the guest long to load, and much memory.
MOST_LISTED = 100_000
#: nftables draws chances as whole billionths: from here on within 1 % of what was asked.
LEAST_CHANCE = 5e-8
#: A chain's probabilities may be less: of all packets that can be counted, none would come.
LEAST_BURST_CHANCE = 1e-12
#: How improbable a random count may be, in standard deviations of a binomial one.
LIKELY_DEVIATIONS = 6.0


@dataclass(frozen=True)
class Dropper:
    """Which packets of which flow are lost on purpose.

    ``numbers``: what stands behind the kind, times in s. ``flow``: one flow's name; of all
    flows together if empty. Raises BadInputError for numbers that make no dropper.
    """

    kind: str
    numbers: tuple[float, ...]
    direction: str = THERE
    flow: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadInputError(f"DROP is '{self.kind}': it must be one of {', '.join(KINDS)}")
        if self.direction not in DIRECTIONS:
            raise BadInputError(
                f"DROP has direction '{self.direction}': it must be {THERE}, towards the "
                f"receiver, or {BACK}, towards the sender"
            )
        if problem := _PROBLEMS[self.kind](self.numbers):
            raise BadInputError(f"DROP is '{self.kind}' with {_listed(self.numbers)}: {problem}")

    def __str__(self) -> str:
        unit = "s" if self.kind == "at" else ""
        where = f",direction={self.direction}" if self.direction != THERE else ""
        whose = f",flow={self.flow}" if self.flow else ""
        return f"{self.kind}:{','.join(f'{n:.12g}{unit}' for n in self.numbers)}{where}{whose}"

    def positions(self, seed: int, count: int) -> tuple[int, ...]:
        """Numbers, from 1, of the packets lost among the first ``count``: packets, burst."""
        if self.kind == "packets":
            return tuple(int(number) for number in self.numbers if number <= count)
        chance = random.Random(f"dropper {seed} {self}")
        return tuple(_bursts(chance, count, *self.numbers))

    def expected(self, seen: int, seed: int) -> tuple[int, int]:
        """The fewest and the most packets that may have been lost of ``seen``."""
        if self.kind == "every":
            exact = seen // int(self.numbers[0])
        elif self.kind == "packets" or self.kind == "at":
            exact = len(self.numbers)
        elif self.kind == "random":
            mean = seen * self.numbers[0]
            off = LIKELY_DEVIATIONS * math.sqrt(mean * (1 - self.numbers[0])) + 1
            return max(0, math.floor(mean - off)), math.ceil(mean + off)
        else:
            exact = len(self.positions(seed, seen))
        return exact, exact


def _bursts(
    chance: random.Random, count: int, enter: float, leave: float, loss: float = 1.0
) -> Iterator[int]:
    """Numbers of the packets lost by a Gilbert-Elliott chain among the first ``count``.

    Before each packet the state may change; how many packets pass until it does is drawn
    from a geometric distribution. Elliott, *Estimates of Error Rates for Codes on
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
    """How many trials until the first success, at least one."""
    if probability == 1.0:
        return 1
    return 1 + math.floor(math.log(1.0 - chance.random()) / math.log1p(-probability))


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:.12g}" for number in numbers) or "nothing"


def _whole(numbers: Sequence[float]) -> bool:
    return all(number == int(number) and 1 <= number <= MOST_PACKETS for number in numbers)


def _problem_of_every(numbers: Sequence[float]) -> str:
    fits = len(numbers) == 1 and _whole(numbers)
    return "" if fits else f"give one whole number from 1 to {MOST_PACKETS}, as in every:1000"


def _problem_of_packets(numbers: Sequence[float]) -> str:
    if not numbers or not _whole(numbers):
        return f"give whole numbers from 1 to {MOST_PACKETS}, as in packets:1000,2000"
    if list(numbers) != sorted(set(numbers)):
        return "give each packet once, in their order"
    return "" if len(numbers) <= MOST_LISTED else f"give at most {MOST_LISTED} packets"


def _problem_of_at(numbers: Sequence[float]) -> str:
    if not numbers or any(not 0 <= number < math.inf for number in numbers):
        return "give times of the schedule, as in at:30s,60s"
    return "" if list(numbers) == sorted(set(numbers)) else "give each time once, in their order"


def _problem_of_random(numbers: Sequence[float]) -> str:
    if len(numbers) == 1 and LEAST_CHANCE <= numbers[0] <= 1:
        return ""
    return f"give one probability from {LEAST_CHANCE:g} to 1, as in random:1e-4"


def _problem_of_burst(numbers: Sequence[float]) -> str:
    possible = all(LEAST_BURST_CHANCE <= number <= 1 for number in numbers)
    if len(numbers) in (2, 3) and possible:
        return ""
    return f"give two or three probabilities from {LEAST_BURST_CHANCE:g} to 1, as in burst:1e-4,0.3"


_PROBLEMS = {
    "every": _problem_of_every,
    "packets": _problem_of_packets,
    "at": _problem_of_at,
    "random": _problem_of_random,
    "burst": _problem_of_burst,
}
