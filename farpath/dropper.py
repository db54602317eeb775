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
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from farpath import units
from farpath.errors import BadInputError
from farpath.path import ETHERNET_HEADER_BYTES
from farpath.stack import UDTPERF

if TYPE_CHECKING:
    from farpath.plan import Plan
    from farpath.schedule import Flow

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
_NUMBER = re.compile(r"[0-9]{1,10}(e[0-9])?")


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


def horizon_packets(plan: Plan) -> int:
    """More packets than a plan's path lets through: how far a burst's losses are drawn.

    Twice what its bottlenecks carry in full packets of the smallest size, for those that
    their buffers drop.
    """
    sizes_bytes = [plan.flow_mtu_bytes(flow) for flow in plan.schedule.flows]
    frame_bytes = min(sizes_bytes) + ETHERNET_HEADER_BYTES
    carried_bits = plan.bottlenecks * plan.path.rate_bps * plan.schedule.duration_s
    return min(MOST_PACKETS, math.ceil(2 * carried_bits / 8 / frame_bytes))


def counted_above_bytes(mtu_bytes: int) -> int:
    """The size above which a packet of a flow is data to a dropper.

    >>> counted_above_bytes(1500)
    750
    """
    return mtu_bytes // 2


def concerned_flows(dropper: Dropper, plan: Plan) -> list[Flow]:
    """The flows whose packets a dropper counts."""
    return [flow for flow in plan.schedule.flows if dropper.flow in ("", flow.name)]


def check_dropper(dropper: Dropper, plan: Plan) -> None:
    """Raise BadInputError for a dropper that can have nothing to drop in a plan."""
    flows = concerned_flows(dropper, plan)
    if not flows:
        names = ", ".join(flow.name for flow in plan.schedule.flows)
        raise BadInputError(f"DROP is '{dropper}': there is no flow {dropper.flow}, but {names}")
    if dropper.direction == THERE:
        for flow in flows:
            _check_counted(dropper, flow, plan)
    last = max(flows, key=lambda flow: flow.stop_s)
    if dropper.kind == "at" and dropper.numbers[-1] >= last.stop_s:
        raise BadInputError(f"DROP is '{dropper}': {last.name} ends after {last.stop_s:g} s")
    horizon = horizon_packets(plan)
    if dropper.kind in ("every", "packets") and dropper.numbers[-1] > horizon:
        raise BadInputError(
            f"DROP is '{dropper}': no such packet can come, in {plan.schedule.duration_s:g} s the "
            f"path carries at most some {horizon / 2:,.0f}; take a smaller number or a longer test"
        )
    if dropper.kind == "burst":
        enter, leave = dropper.numbers[:2]
        listed = horizon * enter / (enter + leave)
        if listed > MOST_LISTED:
            raise BadInputError(
                f"DROP is '{dropper}': some {listed:,.0f} losses, more than {MOST_LISTED:,}: "
                "take a shorter test or rarer bursts"
            )


def _check_counted(dropper: Dropper, flow: Flow, plan: Plan) -> None:
    """Raise BadInputError for a flow whose data packets a dropper takes for others."""
    stack = next((stack for stack in plan.stacks if stack.label == flow.stack), None)
    if stack is None or stack.program != UDTPERF:
        return
    mtu_bytes, mss_bytes = plan.flow_mtu_bytes(flow), int(stack.parameters.get("mss", 0))
    if mss_bytes <= counted_above_bytes(mtu_bytes):
        raise BadInputError(
            f"DROP is '{dropper}': {flow.name} sends packets of {mss_bytes} bytes, and those above "
            f"half the MTU of {mtu_bytes} count as data: give {stack.name}:mss={mtu_bytes}, or MTU"
        )


def parse_droppers(text: str) -> tuple[Dropper, ...]:
    """The droppers of a text: one or more, apart by blanks.

    >>> [str(dropper) for dropper in parse_droppers("every:1000 at:30s,direction=back")]
    ['every:1000', 'at:30s,direction=back']
    """
    found = tuple(_parse_one(word) for word in text.split())
    if not found:
        raise BadInputError("DROP is empty: leave it out, or give one, as in every:1000")
    for one, other in combinations(found, 2):
        if one.direction == other.direction and (
            "" in (one.flow, other.flow) or one.flow == other.flow
        ):
            raise BadInputError(f"DROP has '{one}' and '{other}', which take the same packets")
    return found


def _parse_one(word: str) -> Dropper:
    kind, _, rest = word.partition(":")
    if kind not in KINDS:
        raise BadInputError(
            f"DROP is '{word}': it must begin with one of {', '.join(KINDS)}, as in every:1000"
        )
    parts = rest.split(",") if rest else []
    options: dict[str, str] = {}
    for name, equals, value in (part.partition("=") for part in parts):
        if equals and name not in ("flow", "direction"):
            raise BadInputError(f"DROP is '{word}': '{name}' is not flow or direction")
        if equals and (not value or name in options):
            raise BadInputError(f"DROP is '{word}': give {name} once, as in flow=flow1")
        if equals:
            options[name] = value
        elif not name:
            raise BadInputError(f"DROP is '{word}': nothing stands before or after a comma")
    numbers = tuple(_PARSERS[kind](part) for part in parts if "=" not in part)
    return Dropper(kind, numbers, **options)


def _parse_count(text: str) -> float:
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not number.is_integer():
        raise BadInputError(f"DROP has '{text}', which is no whole number")
    return number


def _parse_moment(text: str) -> float:
    return units.parse_moment_s(text, "DROP")


def _parse_probability(text: str) -> float:
    return units.parse_fraction(text, "DROP", (0.0, 1.0))


_PARSERS = {
    "every": _parse_count,
    "packets": _parse_count,
    "at": _parse_moment,
    "random": _parse_probability,
    "burst": _parse_probability,
}


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
