"""The benchmark of the idle RTT: drawn networks, whose pings the check must judge rightly.

Booting a guest takes longer than all pings in it. So one guest has one drawn network, and many ways
through it: it is a row of switches with a host at each, and has ways of all lengths. It is stopped
when the last pair of hosts has pinged. An error needs no guest of its own: the pings are held
against a plan in which one delay is another.
"""

from __future__ import annotations

import dataclasses
import math
import random
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import CheckFailedError
from farpath.lab import uml
from farpath.lab.artifacts.images import find_images
from farpath.lab.user_parts import BuiltParts
from farpath.planning.request import RunRequest
from farpath.record.idle_path import check_base_rtt
from farpath.spec.path import RATE_BPS_RANGE
from farpath.spec.plan import Plan
from farpath.spec.user_network import Cable, Shaping, Step, UserNetwork
from farpath.tools import ping

#: Switches of a drawn network; with their hosts these are at most ``user_network.MOST_NODES``.
MOST_SWITCHES = 49
#: Most links of a drawn way.
MOST_LINKS = 40
#: Ways of a guest, and of one with losses, where each has more pings.
WAYS, LOSSY_WAYS = 100, 30
#: Window of its flows, which never start: the least, so that the guest gets no more memory.
WINDOW = "65536"
#: The error that must be found, in ms.
PLANTED_MS = 0.01
#: Largest loss and jitter of a drawn cable.
MOST_LOSS, MOST_JITTER_MS = 0.05, 1.0
#: What differs from network to network, in turns.
PLAIN, SAME, NO_DELAY, LOSSY, JITTERY = KINDS = ("plain", "same", "no delay", "lossy", "jittery")
_DECIMALS = 6


class _PingedError(Exception):
    """All pairs of hosts have pinged."""


class _Parts(BuiltParts):
    """The parts of a user whose topology is drawn."""

    def __init__(self, drawn: UserNetwork) -> None:
        super().__init__("virtual")
        self.drawn = drawn

    def network(self, text: str) -> UserNetwork | None:
        """The drawn network, whatever file is named."""
        return self.drawn


@dataclass
class Tally:
    """What the check made of the ways of one network or several.

    ``refused``: the messages of ways that it refused, although nothing is wrong. ``planted``:
    errors; ``missed``: which of them it accepted. ``warnings``: of ways that lost all pings.
    """

    ways: int = 0
    refused: list[str] = field(default_factory=list)
    planted: int = 0
    missed: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add another network's."""
        self.ways += other.ways
        self.planted += other.planted
        self.refused += other.refused
        self.missed += other.missed
        self.warnings += other.warnings

    def __str__(self) -> str:
        return (
            f"{self.ways:,} ways: {len(self.refused)} refused falsely; of {self.planted:,} errors "
            f"of {PLANTED_MS * 1e3:g} us {len(self.missed)} missed; {len(self.warnings)} warnings"
        )


def draw(seed: int, kind: str, switches: int = MOST_SWITCHES, ways: int = WAYS) -> Plan:
    """Return the plan of a drawn network with a flow for each way.

    ``ways``: fewer than a quarter of all pairs of hosts, of which it has each once.
    """
    drawn = random.Random(f"idle RTT {seed} {kind}")
    network = _network(drawn, kind, switches)
    pairs: set[tuple[str, str]] = set()
    while len(pairs) < ways:
        first = drawn.randrange(switches)
        second = first + drawn.randint(1, MOST_LINKS - 2)
        if second < switches:
            pair = (network.hosts[first], network.hosts[second])
            pairs.add(pair if drawn.random() < 0.5 else pair[::-1])
    flows = " ".join(f"{one}>{other}:cubic" for one, other in sorted(pairs))
    request = RunRequest(
        topology="./drawn.py", flows=flows, time="5s", window=WINDOW, seed=str(seed)
    )
    return request.plan(user_parts=_Parts(network))


def _network(drawn: random.Random, kind: str, switches: int) -> UserNetwork:
    """Return a row of switches, with a host at each."""
    same_ms = _delay_ms(drawn)

    def shaping(*, is_rated: bool = False) -> Shaping:
        rate_bps = _rate_bps(drawn) if is_rated or drawn.random() < 0.7 else 0
        delay_ms = {SAME: same_ms, NO_DELAY: 0.0}.get(kind, _delay_ms(drawn))
        jitter_ms = min(round(drawn.uniform(0, MOST_JITTER_MS), _DECIMALS), delay_ms)
        return Shaping(
            rate_bps,
            1000 if rate_bps else 0,
            delay_ms,
            jitter_ms=jitter_ms if kind == JITTERY and drawn.random() < 0.3 else 0.0,
            loss=round(drawn.uniform(0.001, MOST_LOSS), 4) if kind == LOSSY else 0.0,
        )

    def cable(one: str, one_port: int, other: str, other_port: int, *, is_rated: bool) -> Cable:
        there = shaping(is_rated=is_rated)
        back = there if drawn.random() < 0.5 else shaping(is_rated=is_rated)
        return Cable(one, one_port, other, other_port, there, back)

    hosts = tuple(f"h{number}" for number in range(1, switches + 1))
    names = tuple(f"s{number}" for number in range(1, switches + 1))
    cables = [
        cable(host, 0, name, 1, is_rated=True) for host, name in zip(hosts, names, strict=True)
    ]
    cables += [cable(one, 3, other, 2, is_rated=False) for one, other in pairwise(names)]
    return UserNetwork(hosts, names, tuple(cables))


def _rate_bps(drawn: random.Random) -> int:
    """Draw a rate, evenly by its order of magnitude, or one of the ends."""
    low, high = RATE_BPS_RANGE
    rate_bps = round(low * math.exp(math.log(high / low) * drawn.random()))
    return drawn.choice([low, high, rate_bps])


def _delay_ms(drawn: random.Random) -> float:
    """Draw a delay: none, of whole ms, of some digits or of all, shorter than a timer, or long."""
    draws = {
        0: 0.0,
        1: float(drawn.randint(1, 20)),
        2: round(drawn.uniform(0, 12), 1),
        3: round(drawn.uniform(0, 12), drawn.randint(2, _DECIMALS)),
        4: round(drawn.uniform(0, 1), _DECIMALS),
        5: round(drawn.uniform(0, 0.002), _DECIMALS),
        6: round(drawn.uniform(10, 60), drawn.randint(0, _DECIMALS)),
    }
    return drawn.choices(list(draws.values()), weights=[2, 4, 3, 3, 2, 1, 1])[0]


def idle_pings(plan: Plan) -> dict[str, str]:
    """Boot a plan's network and return what each pair's ping printed, by the pings' names."""
    outputs: dict[str, str] = {}

    def watch(event: dict[str, Any]) -> None:
        if event["event"] == "idle-pings":
            outputs[event["name"]] = event["output"]
            if len(outputs) == len(plan.idle_pings):
                raise _PingedError

    with tempfile.TemporaryDirectory(prefix="farpath-bench-") as name:
        log = FilePath(name) / "console.log"
        with suppress(_PingedError), uml.play(plan, find_images(), log, watch):
            pass
    return outputs


def judged(plan: Plan, outputs: Mapping[str, str], drawn: random.Random) -> Tally:
    """Return what the check makes of pings, and of an error of either sign on each way.

    Errors are planted where jitter cannot hide them and at least two pings have come back.
    """
    tally = Tally()
    for name, output in outputs.items():
        tally.ways += 1
        try:
            tally.warnings += check_base_rtt(output, plan, name).warnings
        except CheckFailedError as error:
            tally.refused.append(error.message)
            continue
        assert plan.user_network
        round_trip = plan.user_network.round_trip(*plan.idle_pings[name])
        is_hidden = any(step.shaping.jitter_ms for step in round_trip)
        if is_hidden or len(ping.parse(output).replies) < 2:
            continue
        for error_ms in (PLANTED_MS, -PLANTED_MS):
            steps = [step for step in round_trip if step.shaping.delay_ms + error_ms >= 0]
            if not steps:
                continue
            tally.planted += 1
            with suppress(CheckFailedError):
                check_base_rtt(output, _with_error(plan, drawn.choice(steps), error_ms), name)
                tally.missed.append(f"{name}: {error_ms * 1e3:+g} us in seed {plan.seed}")
    return tally


def _with_error(plan: Plan, wrong: Step, error_ms: float) -> Plan:
    """Return a plan in which one direction of a cable has another delay."""
    assert plan.user_network
    delay_ms = round(wrong.shaping.delay_ms + error_ms, _DECIMALS)
    shaping = dataclasses.replace(wrong.shaping, delay_ms=delay_ms)
    there = shaping if wrong.is_there else wrong.cable.there
    back = wrong.cable.back if wrong.is_there else shaping
    cables = tuple(
        dataclasses.replace(cable, there=there, back=back) if cable is wrong.cable else cable
        for cable in plan.user_network.cables
    )
    return dataclasses.replace(
        plan, user_network=dataclasses.replace(plan.user_network, cables=cables)
    )


def measure_idle_rtts(ways: int) -> Tally:
    """Draw networks until that many ways have been judged, with a line of each on stderr."""
    total, seed = Tally(), 0
    while total.ways < ways:
        kind = KINDS[seed % len(KINDS)]
        seed += 1
        started_s = time.monotonic()
        plan = draw(seed, kind, ways=min(LOSSY_WAYS if kind == LOSSY else WAYS, ways - total.ways))
        tally = judged(plan, idle_pings(plan), random.Random(seed))
        total.add(tally)
        lines = [*tally.refused, *tally.missed, *tally.warnings]
        took_s = time.monotonic() - started_s
        said = "".join(f"  {line}\n" for line in lines)
        sys.stderr.write(f"network {seed} ({kind}), {took_s:.0f} s: {tally}\n{said}")
    return total
