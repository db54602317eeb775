"""A view of results by the paper's stack names, for one seed or as means over seeds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from farpath.metrics.results import ResultSet, RunSummary
from farpath.metrics.run import RegionSummary, Summary
from farpath.runs.claims.rules import MissingRunsError

from .paper_stacks import cpu_runs_of, paper_names, runs_of

#: A function that takes one number from a run's summary.
Metric = Callable[[Summary], float]


@dataclass(frozen=True)
class ResultView:
    """The metrics of a result set; with ``seed`` None they are means over all seeds."""

    campaign: ResultSet
    seed: int | None = None

    def by_stack(self, path: str, stacks: Iterable[str], metric: Metric) -> dict[str, float]:
        """Return a metric of each of the given stacks of the paper on a path.

        Raises MissingRunsError naming all stacks without a run.
        """
        return self._means(runs_of, "", path, stacks, metric)

    def cpu_by_stack(self, path: str, stacks: Iterable[str], metric: Metric) -> dict[str, float]:
        """Return a metric as ``by_stack`` does, from runs in which CPU was counted."""
        label = " or for it with CPU counted (on the host lab)"
        return self._means(cpu_runs_of, label, path, stacks, metric)

    def of_stack(self, path: str, stack: str, metric: Metric) -> float:
        """Return a metric of one stack on a path."""
        return self.by_stack(path, (stack,), metric)[stack]

    def mean_over_stacks(self, paths: Iterable[str], metric: Metric) -> tuple[float, ...]:
        """Return a metric's mean over the paper's nine stacks on each path.

        Raises MissingRunsError naming all stacks without a run on all paths.
        """
        means, missing = [], []
        for path in paths:
            try:
                means.append(statistics.fmean(self.by_stack(path, paper_names(), metric).values()))
            except MissingRunsError as error:
                missing.append(error.message)
        if missing:
            raise MissingRunsError("; ".join(missing))
        return tuple(means)

    def _means(
        self,
        find_runs: Callable[[ResultSet, str, str], tuple[RunSummary, ...]],
        label: str,
        path: str,
        stacks: Iterable[str],
        metric: Metric,
    ) -> dict[str, float]:
        by_stack, missing = {}, []
        for stack in stacks:
            runs = [
                run
                for run in find_runs(self.campaign, path, stack)
                if self.seed is None or run.seed == self.seed
            ]
            if runs:
                by_stack[stack] = statistics.fmean(metric(run.summary) for run in runs)
            else:
                missing.append(stack)
        if missing:
            names = "all stacks" if tuple(missing) == paper_names() else ", ".join(missing)
            raise MissingRunsError(f"missing runs on path {path}{label}: {names}")
        return by_stack


def region(summary: Summary, number: int) -> RegionSummary:
    """Return a region by its number, counted from 1."""
    return summary.regions[number - 1]


def mean_mbps_of_regions(summary: Summary, numbers: Iterable[int]) -> float:
    """Return the aggregate throughput in Mbit/s over the whole time of some regions."""
    regions = [region(summary, number) for number in numbers]
    bits = sum(part.mean_bps * part.seconds for part in regions)
    return bits / sum(part.seconds for part in regions) / 1e6


def over_regions(numbers: Collection[int], metric: Callable[[RegionSummary], float]) -> Metric:
    """Return the metric of a run that is the mean of a metric of some of its regions."""
    return lambda summary: statistics.fmean(metric(region(summary, number)) for number in numbers)
