"""Values that conditions of claims compare: of runs by stack and path, and of measures."""

from __future__ import annotations

import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from pydantic import BaseModel

from farpath.metrics.measures import Measure, select_measures
from farpath.metrics.results import ResultSet, RunSummary
from farpath.metrics.run import RegionSummary, Summary
from farpath.metrics.studies import Study
from farpath.runs.claims.criteria import MissingRunsError, matching

#: How the values of several stacks become one: by picking one of them, or over all.
Pick = Literal["largest", "smallest", "mean", "variation"]


class PartOfRun(BaseModel, extra="forbid", frozen=True):
    """A metric of a run, or of some of its regions, counted from 1.

    Of several regions ``mean_mbps`` is the mean over their whole time, ``rtt_max_ms`` the largest,
    ``rtt_min_ms`` the smallest, and any other metric the mean of theirs.
    """

    metric: str
    regions: tuple[int, ...] = ()

    def of(self, summary: Summary) -> float:
        """Return the number of a run."""
        if not self.regions:
            value = summary.mean_bps / 1e6 if self.metric == MEAN else getattr(summary, self.metric)
            return float(value)
        regions = [summary.regions[number - 1] for number in self.regions]
        if self.metric == MEAN:
            return _mean_mbps(regions)
        joined = _JOINED.get(self.metric, statistics.fmean)
        return joined([getattr(region, self.metric) for region in regions])


#: The metric that is in Mbit/s; all others are fields of a run's summary, or of a region's.
MEAN = "mean_mbps"
#: The metric that is taken from the runs in which CPU was counted.
CPU_COST = "mhz_per_mbps"
_JOINED: Mapping[str, Callable[[Iterable[float]], float]] = {"rtt_max_ms": max, "rtt_min_ms": min}


def _mean_mbps(regions: Sequence[RegionSummary]) -> float:
    bits = sum(region.mean_bps * region.seconds for region in regions)
    return bits / sum(region.seconds for region in regions) / 1e6


class RunValue(PartOfRun, extra="forbid", frozen=True):
    """A mean over seeds of a metric of a stack's runs on a path, or of several stacks' by ``pick``.

    ``stacks``: several; without ``stack`` and ``stacks`` they are all but those of ``but``.
    ``over``: the part of the same run by which the metric is divided; ``lost``: one less that.
    """

    path: str
    stack: str = ""
    stacks: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    pick: Pick | None = None
    over: PartOfRun | None = None
    lost: bool = False

    def of(self, summary: Summary) -> float:
        """Return the number of a run."""
        value = super().of(summary)
        if self.over is not None:
            value /= self.over.of(summary)
        return 1 - value if self.lost else value

    def names(self, all_stacks: Sequence[str]) -> tuple[str, ...]:
        """Return the names of its stacks among those of a study."""
        chosen = (self.stack,) if self.stack else self.stacks
        return chosen or tuple(name for name in all_stacks if name not in self.but)


class MeasureValue(BaseModel, extra="forbid", frozen=True):
    """A mean over seeds of an experiment's measures of a quantity.

    ``about``: the options that they have. ``without``: names of options that they lack.
    ``prefer``: the name of an option; only measures with it count where there are any. ``usual``:
    the name of an option; only measures of its most frequent value count.
    """

    quantity: str
    about: dict[str, str] = {}
    without: tuple[str, ...] = ()
    prefer: str = ""
    usual: str = ""


Value: TypeAlias = RunValue | MeasureValue


@dataclass(frozen=True)
class Number:
    """A value as a number. ``name``: the stack that was picked."""

    value: float
    name: str = ""


class Source(Protocol):
    """The results that give values: runs or measures, of all seeds or of one."""

    def number(self, value: Value) -> Number:
        """Return a value; raise MissingRunsError naming the runs that are missing."""


class ByStack(ABC):
    """Results of several stacks, which a value picks from or joins."""

    @abstractmethod
    def by_stack(self, value: RunValue) -> dict[str, float]:
        """Return the value of each stack; raise MissingRunsError naming those without one."""

    def number(self, value: Value) -> Number:
        """Return a value; raise MissingRunsError naming the stacks without a run."""
        assert isinstance(value, RunValue)
        by_stack = self.by_stack(value)
        numbers = tuple(by_stack.values())
        if value.pick == "mean":
            return Number(statistics.fmean(numbers))
        if value.pick == "variation":
            return Number(statistics.stdev(numbers) / statistics.fmean(numbers))
        choose = min if value.pick == "smallest" else max
        name = choose(by_stack, key=lambda stack: by_stack[stack])
        return Number(by_stack[name], name)


@dataclass(frozen=True)
class Runs(ByStack):
    """The runs of a study; with ``seed`` None their values are means over all seeds.

    Without a study stacks have their labels for names.
    """

    results: ResultSet
    seed: int | None = None
    study: Study | None = None

    @property
    def all_stacks(self) -> tuple[str, ...]:
        """The names of all stacks."""
        return self.results.stacks if self.study is None else self.study.stack_names()

    def by_stack(self, value: RunValue) -> dict[str, float]:
        """Return the value of each stack; raise MissingRunsError naming those without a run."""
        self.check([value])
        return {
            stack: statistics.fmean(value.of(run.summary) for run in self._runs(value, stack))
            for stack in value.names(self.all_stacks)
        }

    def check(self, values: Iterable[RunValue]) -> None:
        """Raise MissingRunsError naming all stacks without a run, by path."""
        missing: dict[str, dict[str, None]] = {}
        for value in values:
            counted = value.metric == CPU_COST
            label = " or for it with CPU counted (on the host lab)" if counted else ""
            for stack in value.names(self.all_stacks):
                if not self._runs(value, stack):
                    missing.setdefault(f"{value.path}{label}", {})[stack] = None
        texts = (
            f"missing runs on path {path}: "
            + ("all stacks" if set(stacks) == set(self.all_stacks) else ", ".join(stacks))
            for path, stacks in missing.items()
        )
        if missing:
            raise MissingRunsError("; ".join(texts))

    def _runs(self, value: RunValue, stack: str) -> tuple[RunSummary, ...]:
        counted = value.metric == CPU_COST
        if self.study is None:
            find = self.results.cpu_of if counted else self.results.of
            runs = find(value.path, stack)
        else:
            find_of = self.study.cpu_runs_of if counted else self.study.runs_of
            runs = find_of(self.results, value.path, stack)
        return tuple(run for run in runs if self.seed in (None, run.seed))


@dataclass(frozen=True)
class Measures:
    """The measures of an experiment, of all seeds or of one."""

    measures: Sequence[Measure]
    experiment: str

    def number(self, value: Value) -> Number:
        """Return a value; raise MissingRunsError if no measure has it."""
        assert isinstance(value, MeasureValue)
        found = self.find(value)
        if not found:
            # Raises with the words for the options that no measure has
            matching((), self.experiment, value.quantity, **value.about)
        return Number(statistics.fmean(measure.value for measure in found))

    def find(self, value: MeasureValue) -> list[Measure]:
        """Return the measures of a value; empty if there are none."""
        found = select_measures(self.candidates(value), value.quantity, **value.about)
        preferred = [measure for measure in found if value.prefer in measure.about]
        return preferred or found

    def candidates(self, value: MeasureValue) -> list[Measure]:
        """Return the measures among which those of a value are found by their options."""
        found = [
            measure
            for measure in select_measures(self.measures, value.quantity)
            if measure.experiment == self.experiment
            and not any(name in measure.about for name in value.without)
        ]
        if not (value.usual and found):
            return found
        values = [measure.about[value.usual] for measure in found]
        usual = max(dict.fromkeys(values), key=values.count)
        return [measure for measure in found if measure.about[value.usual] == usual]

    def largest_deviation(self, value: MeasureValue) -> tuple[float, int]:
        """Return the largest deviation from theory, as a fraction, and the number of measures."""
        found = self.find(value)
        if not found:
            matching((), self.experiment, value.quantity, **value.about)
        deviations = [abs(each.value / each.theory - 1) for each in found if each.theory]
        return max(deviations, default=math.nan), len(found)
