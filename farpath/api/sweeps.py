"""``farpath.sweep``: every combination of some values, as one table."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.api.arguments import (
    OptionValue,
    check_names,
    request_of,
    text_of,
    with_run_options,
)
from farpath.api.run_result import RunResult
from farpath.api.runs import RESULTS, load
from farpath.lab.progress import Stage
from farpath.metrics.results import RunSummary, run_summary
from farpath.notebook.renewed_line import ProgressLine, in_notebook
from farpath.report.figures.save import for_notebook
from farpath.report.figures.sweep_cells import draw_sweep
from farpath.report.tables.sweep import sweep_table
from farpath.report.tables.sweep_results import SweepResults
from farpath.runs.make import MadeSet, RunEvent, make_runs
from farpath.runs.run_set import RunSet, product_set
from farpath.runs.run_set_progress import progress_printer, progress_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class SweepResult:
    """The results of a sweep; ``outcome`` holds its runs, and the errors of failed ones."""

    outcome: MadeSet[RunSummary]

    @cached_property
    def _results(self) -> SweepResults:
        return SweepResults(self.outcome)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each run, in long form.

        Columns: the settings ``stack``, ``rtt_ms``, ``rate_bps``, ``buffer_bytes`` and ``loss``;
        other swept options as they were given; ``seed``; ``throughput_mbps`` (of all flows),
        ``utilisation`` (its fraction of the rate), ``cov`` (coefficient of variation),
        ``fairness_min`` (Jain's index), ``retransmits``, ``queue_drops``, ``rtt_p99_ms`` (of
        pings), ``smoothed_rtt_median_ms`` and ``smoothed_rtt_p99_ms`` (of the senders of all flows;
        missing where they report none), ``spurious``; ``record`` (the name of its directory) and
        ``fingerprint``. Where runs have several flows each has five more: ``flow1_stack``,
        ``flow1_throughput_mbps``, ``flow1_share`` (its fraction of all flows' bits),
        ``flow1_smoothed_rtt_median_ms`` and so on. Where they have several bottlenecks
        ``queue_link`` is the link of the drops.
        """
        return sweep_table(self._results).frame

    @cached_property
    def flows(self) -> pd.DataFrame:
        """A row for each flow of each run: ``record``, ``seed``, and ``RunResult.flows``."""
        import pandas as pd

        rows = [
            result.flows.assign(record=result.path.name, seed=result.plan.seed)
            for result in self.runs
        ]
        return pd.concat(rows, ignore_index=True)

    @cached_property
    def runs(self) -> tuple[RunResult, ...]:
        """The results of each run, in the order of the table."""
        return tuple(load(made.record) for made in self.outcome.runs)

    @property
    def failures(self) -> dict[str, str]:
        """Why runs failed, by their values."""
        return self.outcome.failures()

    def plot(self, metric: str = "throughput_mbps") -> Figure:
        """Return a figure of a column's means over seeds: one of matplotlib's.

        With one swept option it is a line through the runs' dots, with each flow's share below.
        With several it is a heat map: the first option is the vertical axis, the second the
        horizontal one, and each combination of the others has a panel.
        """
        return for_notebook(draw_sweep(self._results, metric))

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        axes = ", ".join(self.outcome.run_set.axes)
        return f"<farpath sweep over {axes}: {len(self.outcome.runs)} runs{failed}>"

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: the table."""
        return str(self.table.to_html(index=False))


def sweep(
    *,
    seeds: int = 1,
    draws: int = 1,
    out: str | os.PathLike[str] = RESULTS,
    cores: int | None = None,
    progress: bool = True,
    **options: OptionValue | Iterable[OptionValue],
) -> SweepResult:
    """Make a run of each combination of values, and return all as one table.

    ``options``: as those of ``farpath.run``; one with a list of values is swept, as in
    ``rtt=["20ms", "160ms"]``. ``seeds``: how many seeds each combination gets, from ``seed`` on.
    ``draws``: in place of seeds how many draws each gets, which also move starts and hosts'
    sending. ``out``: the directory of the records; runs that are recorded there are not made
    again, so that a sweep which was stopped continues. ``cores``: how many runs at once, by
    default one on each.

    A run that fails leaves a warning and no row. Raises as ``farpath.run`` does.
    """
    planned = _sweep_of(seeds, draws, options)
    with _watch_of(planned, progress) as watch:
        outcome = make_runs(planned, FilePath(out), cores, watch, measure=run_summary)
    if not outcome.runs:
        raise outcome.failed_error()
    result = SweepResult(outcome)
    for name, message in result.failures.items():
        warnings.warn(f"{name} failed: {message}", RuntimeWarning, stacklevel=2)
    return result


def _sweep_of(
    seeds: int, draws: int, options: Mapping[str, OptionValue | Iterable[OptionValue]]
) -> RunSet:
    """Plan the sweep that arguments ask for."""
    check_names(options)
    axes: dict[str, tuple[str, ...]] = {}
    single: dict[str, OptionValue] = {}
    for name, value in options.items():
        if isinstance(value, Iterable) and not isinstance(value, str | os.PathLike):
            axes[name] = tuple(text_of(name, each) for each in value)
        else:
            single[name] = value
    return product_set(request_of(single), axes, seeds, draws=draws)


@contextmanager
def _watch_of(run_set: RunSet, shown: bool) -> Iterator[Callable[[RunEvent[Any]], None]]:
    """Return the watcher of runs that begin and end, which shows how many are over if ``shown``."""
    if not shown:
        yield lambda _event: None
        return
    if not in_notebook():
        yield progress_printer("sweep")
        return
    with ProgressLine("sweep") as line:
        yield lambda event: line.show(
            Stage(event.progress.ended / len(run_set.runs), progress_text(event.progress))
        )


vars(sweep)["__signature__"] = with_run_options(
    inspect.signature(sweep, eval_str=True), OptionValue | Iterable[OptionValue]
)
