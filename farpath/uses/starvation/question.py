"""The question of starvation: two stacks, the ranges of a path's conditions, and a trial's result.

For two flows that share a bottleneck it asks under which delay, jitter, buffer and start times one
starves beside the other (Arun, Alizadeh, Balakrishnan: *Starvation in End-to-End Congestion
Control*, SIGCOMM 2022). ``farpath.uses.starvation.search`` makes the trials.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from farpath.base.errors import BadInputError
from farpath.mechanisms.quantities import MOMENT_S
from farpath.metrics.estimate import Spread, spread
from farpath.planning.request import RunRequest, check_lab, parse_seed
from farpath.planning.stack_texts import parse_stacks
from farpath.platforms import PLATFORMS
from farpath.runs.axes import searched
from farpath.runs.ranges import Range, Template
from farpath.runs.run_set import draws_of, repeats
from farpath.runs.trials import Interval, Number
from farpath.spec.schedule import JOINING
from farpath.spec.settings import HOST

#: The range of the time between the starts of the two flows.
START = "start"


@dataclass(frozen=True)
class Starvation:
    """A search for the conditions under which one of two flows starves.

    ``pair``: the stacks, as typed; the first one's flow starts first. ``base``: the options that
    all runs share. ``templates``: by name, the options with a range in them, and ``start``.
    ``time``: duration of both flows together. ``seed``: of the runs and of the choice of trials.
    ``draws``: of each trial; one stands for its run as it is. ``batch``: number of trials that are
    chosen together, before any of them is made, so that the number of cores alters none.
    """

    pair: tuple[str, str]
    base: RunRequest
    templates: Mapping[str, Template]
    time: str
    seed: int
    batch: int
    draws: int = 1

    @property
    def name(self) -> str:
        """The two stacks, for people."""
        return "+".join(self.pair)

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The ranges of all conditions that vary."""
        return tuple(each for template in self.templates.values() for each in template.ranges)

    @property
    def allowed(self) -> dict[str, Interval | range | list[Number] | Number]:
        """Values that the sampler may choose, by the range's name."""
        return {
            each.name: range(int(each.low), int(each.high) + 1)
            if each.whole
            else Interval(each.low, each.high, each.log)
            for each in self.ranges
        }

    def texts(self, values: Mapping[str, float]) -> dict[str, str]:
        """Return the options that vary with their values, by name, as they are typed."""
        return {name: template.text(values) for name, template in self.templates.items()}

    def request(self, values: Mapping[str, float]) -> RunRequest:
        """Return the run of chosen values, as it is without a draw."""
        options: dict[str, Any] = self.texts(values)
        start = options.pop(START)
        if MOMENT_S.parse(start, "start") == 0:
            length = {"time": self.time}
        else:
            length = {"schedule": f"{JOINING}:{start}", "region": self.time}
        return dataclasses.replace(self.base, **options, **length, stack=self.name)

    def requests(self, values: Mapping[str, float]) -> tuple[RunRequest, ...]:
        """Return the draws of the run of chosen values."""
        return repeats(self.request(values), draws=self.draws)

    def rounded(self, params: Mapping[str, float]) -> dict[str, float]:
        """Return a sampler's choice, rounded to the digits of texts."""
        return {each.name: each.rounded(params[each.name]) for each in self.ranges}

    def corners(self) -> Iterator[dict[str, float]]:
        """Yield the lowest and the highest values, and variants with one value at the other end."""
        low = {each.name: each.low for each in self.ranges}
        high = {each.name: each.high for each in self.ranges}
        yield from (low, high)
        for name in low if len(low) > 1 else ():
            yield {**low, name: high[name]}
            yield {**high, name: low[name]}

    def identity(self, build: str) -> str:
        """Return the SHA-256 over all that decides the trials.

        ``build``: identity of all that decides a run besides its options.
        """
        question = {
            "pair": self.pair,
            "base": self.base.options(),
            "templates": {name: str(each.parts) for name, each in self.templates.items()},
            "time": self.time,
            "seed": self.seed,
            "batch": self.batch,
            "draws": self.draws,
            "build": build,
        }
        return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Trial:
    """A run of a search, or of its draws the one in the middle by the least share.

    ``values``: by the range's name. ``options``: the varying ones, as typed. ``shares``: of each
    flow, as ``farpath.metrics.share`` has them, None if nothing arrived. ``throughputs_bps``:
    means over the same time. ``command``: repeats the run. ``least_shares``: of all draws, without
    those in which nothing arrived.
    """

    number: int
    values: Mapping[str, float]
    options: Mapping[str, str]
    shares: tuple[float, ...] | None
    throughputs_bps: tuple[float, ...]
    record: str
    fingerprint: str
    command: str
    least_shares: tuple[float, ...] = ()

    @property
    def range(self) -> Spread:
        """The least share, and its range over draws."""
        return dataclasses.replace(spread(self.least_shares), median=self.least_share)

    @property
    def least_share(self) -> float:
        """The smaller share of the two flows, which the search minimises."""
        return math.nan if self.shares is None else min(self.shares)

    @property
    def starved(self) -> int | None:
        """The index of the flow with the smaller share; None if nothing arrived."""
        return None if self.shares is None else self.shares.index(min(self.shares))

    @property
    def order(self) -> tuple[bool, float, int]:
        """A key by which the worst trial is the first, and one without a share the last."""
        return self.shares is None, self.least_share if self.shares else 0.0, self.number


def command_of(request: RunRequest) -> str:
    """Return the command that makes a run.

    >>> command_of(RunRequest(stack="2xbbr", time="5s"))
    'farpath run --stack=2xbbr --time=5s'
    """
    return shlex.join(["farpath", "run", *request.options()])


def worst(trials: Sequence[Trial]) -> Trial:
    """Return the trial in which a flow had the least share."""
    return min(trials, key=lambda trial: trial.order)


def plan_starvation(
    options: Mapping[str, str],
    stacks: Sequence[str],
    start: str,
    time: str,
    batch: int,
    draws: int | None = 1,
) -> tuple[Starvation, ...]:
    """Return a search for each pair of different stacks, or of one stack beside itself.

    ``options``: of the runs, by name, as typed, with ranges or without. ``draws``: of each trial,
    as ``draws_of`` has them. Raises BadInputError for
    options without a range, for ends of ranges that make no run, and as ``searched``.
    """
    found = {name: searched(name, text) for name, text in options.items()}
    templates = {name: each for name, each in found.items() if each.ranges}
    templates[START] = searched(START, start, whole=True)
    if not any(each.ranges for each in templates.values()):
        raise BadInputError(
            problem="no option has a range",
            remedy="give what is sought, as in `jitter=0..10ms` or `buffer=0.1..8xBDP`",
        )
    base = RunRequest(**{name: text for name, text in options.items() if name not in templates})
    check_lab(base.lab)
    if PLATFORMS[base.lab].measures_cpu:
        raise BadInputError(
            option="lab",
            given=HOST,
            problem="a search needs runs that repeat, as those of `lab=virtual` do",
        )
    seed = parse_seed(base.seed)
    count = draws_of(draws, base)
    return tuple(
        Starvation(pair, base, templates, time, seed, batch, count) for pair in _pairs(stacks)
    )


def _pairs(stacks: Sequence[str]) -> list[tuple[str, str]]:
    for stack in stacks:
        if len(parse_stacks(stack)) != 1:
            raise BadInputError(
                option="stack",
                given=stack,
                remedy=(
                    "give stacks of one flow, separated by commas; each pair of them is "
                    "searched, or one beside itself"
                ),
            )
    if len(stacks) == 1:
        return [(stacks[0], stacks[0])]
    return list(itertools.combinations(stacks, 2))
