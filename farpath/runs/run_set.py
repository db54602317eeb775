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
from farpath.planning.request import RunRequest, parse_seed
from farpath.record.identity import plan_identity

if TYPE_CHECKING:
    from farpath.lab.artifacts.images import Images
    from farpath.spec.host_image import HostImage
    from farpath.spec.plan import Plan

#: The most runs of a set: a month of a core with runs of ten minutes.
MOST_RUNS = 5_000
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
    seconds on one core where they are known; else they follow from the plan.
    """

    name: str
    plan: Plan
    values: Mapping[str, str] = field(default_factory=dict)
    images: Images | None = None
    kernel: str = ""
    expected_s: float | None = None
    request: Mapping[str, str] | None = None

    @property
    def cost_s(self) -> float:
        """Its cost, relative to the other runs of its set."""
        return cost_s(self.plan) if self.expected_s is None else self.expected_s


@dataclass(frozen=True)
class RunSet:
    """Runs that are all different; ``axes``: the values of each option that varies, as typed.

    Raises BadInputError if two runs have one plan on one kernel.
    """

    runs: tuple[PlannedRun, ...]
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names: dict[tuple[str, str], str] = {}
        for run in self.runs:
            key = plan_identity(run.plan), run.kernel
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


def product_set(
    base: RunRequest,
    axes: Mapping[str, tuple[str, ...]],
    seeds: int = 1,
    planned: Callable[[str, RunRequest], PlannedRun] = planned_run,
) -> RunSet:
    """Return all combinations of values, the last option and then the seed changing fastest.

    ``base``: the options that all runs share. ``axes``: the values of each option that varies.
    ``seeds``: number of seeds of each combination, from the seed of ``base`` on. ``planned``: plans
    a run of a name. Raises BadInputError for the first run that is not allowed, and for two that
    are the same.
    """
    _check_count(axes, seeds)
    return RunSet(tuple(_combined(base, axes, seeds, planned)), axes)


def _combined(
    base: RunRequest,
    axes: Mapping[str, tuple[str, ...]],
    seeds: int,
    planned: Callable[[str, RunRequest], PlannedRun],
) -> Iterator[PlannedRun]:
    first = parse_seed(base.seed)
    for combination in itertools.product(*axes.values()):
        values = dict(zip(axes, combination, strict=True))
        for seed in range(first, first + seeds):
            request = dataclasses.replace(base, **{**values, "seed": str(seed)})
            name = ", ".join(
                [*(f"{name}={value}" for name, value in values.items()), f"seed {seed}"]
            )
            yield dataclasses.replace(planned(name, request), values=values)


def _check_count(axes: Mapping[str, tuple[str, ...]], seeds: int) -> None:
    for name, values in axes.items():
        if not values:
            raise BadInputError(
                option=name, problem="it has no value", remedy="give one or several"
            )
    if "seed" in axes:
        raise BadInputError(
            problem="`seed` has several values", remedy="a sweep takes `seeds=3`, from `seed` on"
        )
    if seeds not in range(1, MOST_RUNS + 1):
        raise BadInputError(
            option="seeds",
            given=str(seeds),
            remedy=f"it must be a whole number from 1 to {MOST_RUNS:,}",
        )
    count = math.prod([seeds, *map(len, axes.values())])
    if count > MOST_RUNS:
        raise BadInputError(
            problem=f"the sweep has {count:,} runs: at most {MOST_RUNS:,} are made",
            remedy="take fewer values",
        )
