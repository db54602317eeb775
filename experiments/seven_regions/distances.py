"""How far a campaign's results at CERN are from the published ones, as single numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

from farpath.metrics.estimate import spearman
from farpath.metrics.results import ResultSet
from farpath.metrics.run import Summary

from .paper_columns import PaperColumn
from .paper_stacks import paper_names, runs_of
from .published import PUBLISHED_PATH, all_published


def means_over_seeds(campaign: ResultSet, metric: Callable[[Summary], float]) -> dict[str, float]:
    """Return a metric's mean over the seeds at CERN of those of the paper's stacks that were run.

    The keys are the paper's names. A mean is NaN if a run has no value.
    """
    by_stack = {name: runs_of(campaign, PUBLISHED_PATH, name) for name in paper_names()}
    return {
        name: statistics.fmean(metric(run.summary) for run in runs)
        for name, runs in by_stack.items()
        if runs
    }


def rank_correlation(campaign: ResultSet) -> float:
    """Return Spearman's correlation of measured and published means of the nine stacks at CERN.

    It is NaN if a stack is missing.
    """
    means_bps = means_over_seeds(campaign, lambda run: run.mean_bps)
    if set(means_bps) != set(paper_names()):
        return math.nan
    printed_mbps = [all_published()[name].mean_mbps for name in means_bps]
    return spearman(list(means_bps.values()), printed_mbps)


def mean_distance(campaign: ResultSet, column: PaperColumn) -> float:
    """Return the mean over the stacks that were run of |measured - published|, in their unit.

    It is NaN without runs.
    """
    values = means_over_seeds(campaign, column.measured.number_of)
    if not values:
        return math.nan
    rows = all_published()
    return statistics.fmean(
        abs(value - column.printed.number_of(rows[name])) for name, value in values.items()
    )
