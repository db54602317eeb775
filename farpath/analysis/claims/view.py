"""Look: figures of a campaign by the paper's names, of one seed or as means over seeds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from farpath.analysis.metrics import RegionSummary, Summary
from farpath.analysis.paper_stacks import cpu_runs_of, paper_names, runs_of
from farpath.analysis.results import ResultSet, RunSummary
from farpath.base.errors import FarpathError

#: What is asked of a run.
Figure = Callable[[Summary], float]


class MissingRunsError(FarpathError):
    """A claim's runs are not in the campaign; the message names them."""


@dataclass(frozen=True)
class ResultView:
    """A campaign's figures; ``seed`` None gives means over all seeds there are."""

    campaign: ResultSet
    seed: int | None = None

    def of(self, path: str, stacks: Iterable[str], figure: Figure) -> dict[str, float]:
        """A figure of each of some of the paper's stacks on a path.

        Raises MissingRunsError naming all that have no run.
        """
        return self._figures(runs_of, "", path, stacks, figure)

    def cpu_of(self, path: str, stacks: Iterable[str], figure: Figure) -> dict[str, float]:
        """The same, of runs in which CPU was counted."""
        what = " or for it with CPU counted (on the host lab)"
        return self._figures(cpu_runs_of, what, path, stacks, figure)

    def one(self, path: str, stack: str, figure: Figure) -> float:
        """A figure of one stack on a path."""
        return self.of(path, (stack,), figure)[stack]

    def means(self, paths: Iterable[str], figure: Figure) -> tuple[float, ...]:
        """A figure's mean over the paper's nine stacks on each path.

        Raises MissingRunsError naming all that have no run on all paths.
        """
        found, missing = [], []
        for path in paths:
            try:
                found.append(statistics.fmean(self.of(path, paper_names(), figure).values()))
            except MissingRunsError as error:
                missing.append(error.message)
        if missing:
            raise MissingRunsError("; ".join(missing))
        return tuple(found)

    def _figures(
        self,
        find: Callable[[ResultSet, str, str], tuple[RunSummary, ...]],
        what: str,
        path: str,
        stacks: Iterable[str],
        figure: Figure,
    ) -> dict[str, float]:
        found, missing = {}, []
        for stack in stacks:
            runs = [
                run
                for run in find(self.campaign, path, stack)
                if self.seed is None or run.seed == self.seed
            ]
            if runs:
                found[stack] = statistics.fmean(figure(run.summary) for run in runs)
            else:
                missing.append(stack)
        if missing:
            named = "all stacks" if tuple(missing) == paper_names() else ", ".join(missing)
            raise MissingRunsError(f"missing runs on path {path}{what}: {named}")
        return found


def region(summary: Summary, number: int) -> RegionSummary:
    """A region by its number, from 1."""
    return summary.regions[number - 1]


def mean_mbps_of_regions(summary: Summary, numbers: Iterable[int]) -> float:
    """Aggregate throughput in Mbit/s over all the time of some regions."""
    regions = [region(summary, number) for number in numbers]
    bits = sum(each.mean_bps * each.seconds for each in regions)
    return bits / sum(each.seconds for each in regions) / 1e6
