"""``farpath.compare``: a few runs together, in which settings and results they differ."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from farpath.api.run_result import RunResult
from farpath.api.runs import load
from farpath.report.figures.compared_curves import draw_comparison
from farpath.report.figures.save import for_notebook
from farpath.report.html.run_summary import render_comparison_summary
from farpath.report.tables.comparison import Comparison
from farpath.report.tables.comparison import compare as compare_records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class ComparisonResult:
    """A few runs compared, in the order of the settings in which they differ.

    ``comparison``: that of ``farpath compare``.
    """

    comparison: Comparison

    @property
    def title(self) -> str:
        """What the runs have in common, and in what they differ."""
        return self.comparison.title

    @cached_property
    def runs(self) -> tuple[RunResult, ...]:
        """The results of each run, in the order of the table."""
        return tuple(RunResult(run.record) for run in self.comparison.runs)

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for each run that is the first one packet for packet."""
        return self.comparison.remarks

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each run.

        Columns: ``run`` (its letter), ``differs_in`` (its settings that others lack), ``seed``, the
        results as in a sweep's table, of runs with several flows ``flow1_stack``,
        ``flow1_throughput_mbps``, ``flow1_share``, ``flow1_completion_s``, ``flow1_drops``,
        ``flow1_smoothed_rtt_median_ms``, ``flow1_smoothed_rtt_p99_ms`` and so on, ``record`` (its
        directory) and ``fingerprint``. Unknown values are missing.
        """
        return self.comparison.runs_table.frame

    def plot(self) -> Figure:
        """Return the figure of throughput, ping RTT and queue over time: one of matplotlib's."""
        return for_notebook(draw_comparison(self.comparison))

    def __repr__(self) -> str:
        return f"<farpath comparison of {len(self.comparison.runs)} runs: {self.title}>"

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: the results with their differences, records and curves."""
        return render_comparison_summary(self.comparison)


def compare(*runs: RunResult | str | os.PathLike[str], by: str = "") -> ComparisonResult:
    """Compare two to twelve runs: results of ``farpath.run``, or directories of records.

    They are sorted by the settings in which they differ. ``by``: the setting that sorts them first,
    such as ``"rtt"``, ``"buffer"`` or ``"seed"``.

    Raises BadInputError for fewer or more runs, for one given twice, for a directory without a
    record, and for a setting that there is not.
    """
    results = [run if isinstance(run, RunResult) else load(run) for run in runs]
    return ComparisonResult(compare_records([result.record for result in results], by))
