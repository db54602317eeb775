"""The figure of a flow whose window is limited: throughput and window over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.metrics.published_measures import published_measures
from farpath.metrics.run import per_second
from farpath.report.figures.run_over_time import flow_colours
from farpath.report.figures.style import FULL_IN, INK, QUIET, RULE, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_window_cap(runs: Sequence[RecordedRun]) -> Figure:
    """Draw throughput and window over time, a column for each run."""
    from matplotlib.figure import Figure

    printed = published_measures()[analysis.PUBLISHED].value
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(2, len(runs), sharex="col", sharey="row", squeeze=False)
        for (upper, lower), recorded in zip(frames.T, runs, strict=True):
            plan, rows = recorded.run.plan, flow_metrics.flow_samples(recorded.record)
            throughput_bps = per_second(recorded.record.samples, plan.schedule)["flow1"]
            (colour,) = flow_colours(plan)
            upper.plot(throughput_bps.index, throughput_bps / 1e6, color=colour, linewidth=0.9)
            full_mbps = flow_metrics.full_bps(plan) / 1e6
            upper.axhline(
                full_mbps, color=INK, linewidth=0.9, linestyle="-.",
                label="what host and path carry",
            )  # fmt: skip
            upper.axhline(
                printed, color=INK, linewidth=0.9, linestyle=":",
                label="published, limited by its hosts",
            )  # fmt: skip
            lower.plot(rows["t_s"], rows["cwnd_bytes"] / 1e6, color=colour, linewidth=0.9)
            lower.axhline(
                plan.path.window_bytes / 1e6, color=INK, linewidth=0.9, linestyle="--",
                label="the receiver's window",
            )  # fmt: skip
            upper.axvline(
                analysis.STARTED_S,
                color=QUIET,
                linewidth=0.6,
                label="the mean is of the time after this line",
            )
            hosts = f", {plan.era.name}" if plan.era.card_rate_bps is not None else ""
            bdps = analysis.window_bdps(plan.path)
            window = f", {bdps:.1f} BDP" if bdps > analysis.CAP else ""
            upper.set_title(f"IPv{recorded.run.request.ip or 4}{hosts}{window}")
            lower.set_xlabel("time (s)")
            for axes in (upper, lower):
                axes.set_ylim(bottom=0)
                axes.grid(True, color=RULE, linewidth=0.3)
        for axes, label in zip(
            frames[:, 0], ("throughput (Mbit/s)", "congestion window (MB)"), strict=True
        ):
            axes.set_ylabel(label)
        legends = [axes.get_legend_handles_labels() for axes in frames[:, 0]]
        figure.legend(
            [handle for handles, _ in legends for handle in handles],
            [label for _, labels in legends for label in labels],
            fontsize=7, frameon=False, loc="outside lower center", ncols=4,
        )  # fmt: skip
        figure.suptitle(f"One flow with a limited window: {runs[0].run.plan.path.title}")
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all runs."""
    if runs:
        yield analysis.EXPERIMENT, draw_window_cap(runs)
