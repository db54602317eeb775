"""Run sets: several runs described at once, by axes, pairs, values or the cases of a file."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError
from farpath.lab.user_parts import BuiltParts
from farpath.mechanisms.draw.mechanism import DRAW
from farpath.planning.request import RunRequest, parse_seed
from farpath.record.identity import plan_identity
from farpath.spec.settings import VIRTUAL

if TYPE_CHECKING:
    from farpath.lab.artifacts.images import Images
    from farpath.spec.host_image import HostImage
    from farpath.spec.plan import Plan

#: The most runs of a set: a month of a core with runs of ten minutes.
MOST_RUNS = 5_000
#: The draws of each run of a use: with five the median is a run, and the range has its ends.
USUAL_DRAWS = 5
#: The seed of a request that names none.
USUAL = RunRequest().seed
#: Cost of starting a guest, in virtual seconds of traffic at the rate below.
START_COST_S, COST_RATE_BPS = 10.0, 100e6


def cost_s(plan: Plan) -> float:
    """Return the cost of a run, relative to others, from its time and its bits."""
    return START_COST_S + plan.schedule.duration_s * plan.rates.mean / COST_RATE_BPS


@dataclass(frozen=True)
class PlannedRun:
    """One run of a set.

    ``name``: for people. ``values``: of the options that vary in the set, as typed, and
    ``request`` all that are not at their defaults, which the record keeps. ``images``:
    those of another kernel, None for the project's, and ``kernel`` its name. ``expected_s``: real
    seconds on one core where they are known; else they follow from the plan. ``programs``: those
    of the hosts, where runs of one plan differ by them.
    """

    name: str
    plan: Plan
    values: Mapping[str, str] = field(default_factory=dict)
    images: Images | None = None
    kernel: str = ""
    expected_s: float | None = None
    request: Mapping[str, str] | None = None
    programs: str = ""

    @property
    def cost_s(self) -> float:
        """Its cost, relative to the other runs of its set."""
        return cost_s(self.plan) if self.expected_s is None else self.expected_s


@dataclass(frozen=True)
class RunSet:
    """Runs that are all different; ``axes``: the values of each option that varies, as typed.

    Raises BadInputError if two runs have one plan on one kernel with the same programs.
    """

    runs: tuple[PlannedRun, ...]
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names: dict[tuple[str, str, str], str] = {}
        for run in self.runs:
            key = plan_identity(run.plan), run.kernel, run.programs
            if key in names:
                raise BadInputError(
                    problem=f"'{names[key]}' and '{run.name}' are the same run",
                    remedy="leave one of the values out",
                )
            names[key] = run.name

    def with_images(self, images: Mapping[str, HostImage]) -> RunSet:
        """Return the same runs with these images of their hosts."""
        runs = tuple(
            dataclasses.replace(run, plan=dataclasses.replace(run.plan, images=images))
            for run in self.runs
        )
        return RunSet(runs, self.axes)


def planned_run(name: str, request: RunRequest) -> PlannedRun:
    """Return the run of a request; raise BadInputError for one that is not allowed."""
    plan = request.plan(user_parts=BuiltParts(request.lab))
    return PlannedRun(name, plan, request=request.typed)


def draws_of_run(name: str, request: RunRequest, draws: int | None) -> tuple[PlannedRun, ...]:
    """Return the draws of a run, as many as ``draws_of`` says; of one alone the run as it is."""
    requests = repeats(request, draws=draws_of(draws, request))
    if len(requests) == 1:
        return (planned_run(name, request),)
    return tuple(planned_run(f"{name}, draw {each.draw}", each) for each in requests)


def product_set(
    base: RunRequest,
    axes: Mapping[str, tuple[str, ...]],
    seeds: int = 1,
    planned: Callable[[str, RunRequest], PlannedRun] = planned_run,
    draws: int = 1,
) -> RunSet:
    """Return all combinations of values, the last option and then the seed changing fastest.

    ``base``: the options that all runs share. ``axes``: the values of each option that varies.
    ``seeds``: number of seeds of each combination, from the seed of ``base`` on. ``planned``: plans
    a run of a name. ``draws``: of several, the number of draws of each combination in place of
    seeds (``farpath.mechanisms.draw``); one stands for the run as it is. Raises BadInputError for
    the first run that is not allowed, and for two that are the same.
    """
    _check_count(axes, seeds, draws)
    return RunSet(tuple(_combined(base, axes, seeds, draws, planned)), axes)


def draws_of(draws: int | None, base: RunRequest, seeds: int = 1) -> int:
    """Return how many draws a question asks for, for ``None`` the usual number.

    That is one where seeds, one draw or another lab are asked for: those repeat in a way of their
    own.
    """
    if draws is not None:
        return draws
    repeats_itself = seeds > 1 or base.draw is not None or base.lab != VIRTUAL
    return 1 if repeats_itself else USUAL_DRAWS


def repeats(base: RunRequest, seeds: int = 1, draws: int = 1) -> tuple[RunRequest, ...]:
    """Return a request for each seed, from that of ``base`` on, or for each of several draws.

    >>> [each.typed for each in repeats(RunRequest(rtt="50ms"), draws=2)]
    [{'rtt': '50ms', 'draw': '1'}, {'rtt': '50ms', 'draw': '2'}]

    Raises BadInputError for numbers that are not allowed, and for draws of one draw.
    """
    _check_repeats(seeds, draws)
    first = parse_seed(base.seed)
    if draws == 1:
        return tuple(base.changed(seed=str(seed)) for seed in range(first, first + seeds))
    if base.draw is not None:
        raise BadInputError(
            option=DRAW,
            given=base.draw,
            problem=f"it is one draw, and `draws={draws}` asks for several",
            remedy="leave one of them out",
        )
    numbers = range(first, first + draws)
    return tuple(base.changed(seed=USUAL, draw=str(number)) for number in numbers)


def _combined(
    base: RunRequest,
    axes: Mapping[str, tuple[str, ...]],
    seeds: int,
    draws: int,
    planned: Callable[[str, RunRequest], PlannedRun],
) -> Iterator[PlannedRun]:
    for combination in itertools.product(*axes.values()):
        values = dict(zip(axes, combination, strict=True))
        for request in repeats(dataclasses.replace(base, **values), seeds, draws):
            repeat = f"seed {request.seed}" if request.draw is None else f"draw {request.draw}"
            name = ", ".join([*(f"{name}={value}" for name, value in values.items()), repeat])
            yield dataclasses.replace(planned(name, request), values=values)


def _check_repeats(seeds: int, draws: int) -> None:
    for name, count in (("seeds", seeds), ("draws", draws)):
        if count not in range(1, MOST_RUNS + 1):
            raise BadInputError(
                option=name,
                given=str(count),
                remedy=f"it must be a whole number from 1 to {MOST_RUNS:,}",
            )
    if seeds > 1 and draws > 1:
        raise BadInputError(
            option="draws",
            given=str(draws),
            problem=f"`seeds` is {seeds}, and each draw is a seed",
            remedy="leave one of them out",
        )


def _check_count(axes: Mapping[str, tuple[str, ...]], seeds: int, draws: int) -> None:
    for name, values in axes.items():
        if not values:
            raise BadInputError(
                option=name, problem="it has no value", remedy="give one or several"
            )
    for name in ("seed", DRAW):
        if name in axes:
            raise BadInputError(
                problem=f"`{name}` has several values",
                remedy=f"a sweep takes `{name}s=3`, from `seed` on",
            )
    _check_repeats(seeds, draws)
    count = math.prod([seeds, draws, *map(len, axes.values())])
    if count > MOST_RUNS:
        raise BadInputError(
            problem=f"the sweep has {count:,} runs: at most {MOST_RUNS:,} are made",
            remedy="take fewer values",
        )
