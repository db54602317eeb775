"""Figures of throughput: of flows that differ, and of a flow whose window is limited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from farpath.analysis.published import published_measures
from farpath.analysis.studies import sharing, window_cap
from farpath.analysis.studies.measure import Measure, RecordedRun, select_measures
from farpath.metrics import flow as flow_metrics
from farpath.metrics.run import per_second, smoothed
from farpath.report.figures.run import flow_colours
from farpath.report.figures.style import FULL_IN, INK, QUIET, RULE, TALL_IN, print_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The height of a run's frame in a figure of many, in inches.
FRAME_IN = 2.4
#: The opacity of the curves behind their means.
CURVE_ALPHA = 0.75


def draw_biases(measures: Sequence[Measure], runs: Sequence[RecordedRun]) -> Figure:
    """Draw both flows' throughput over time with their means, a frame for each run."""
    from matplotlib.figure import Figure

    with print_style():
        size = (TALL_IN[0], FRAME_IN * len(runs)) if len(runs) > 2 else TALL_IN
        figure = Figure(figsize=FULL_IN if len(runs) == 1 else size, layout="constrained")
        frames = figure.subplots(len(runs), 1, squeeze=False)[:, 0]
        for axes, recorded in zip(frames, runs, strict=True):
            plan, jitter = recorded.run.plan, sharing.jitter_text(recorded.run.plan)
            means = [
                [
                    measure
                    for measure in select_measures(
                        measures,
                        f"{sharing.THROUGHPUT}, {which}",
                        senders=recorded.run.request.senders or "",
                    )
                    if (measure.seed, measure.about.get(sharing.JITTER, "")) == (plan.seed, jitter)
                ]
                for which in ("first", "second")
            ]
            _draw_pair(axes, recorded, means)
            if jitter:
                axes.text(
                    0.99, 0.95, f"jitter {jitter} us, seed {plan.seed}", fontsize=7,
                    ha="right", va="top", transform=axes.transAxes,
                )  # fmt: skip
        frames[-1].set_xlabel("time (s)")
        figure.suptitle(
            "Two flows on one bottleneck: throughput over 5 s, means, and published means (dots)"
        )
    return figure


def _draw_pair(axes: Axes, recorded: RecordedRun, means: Sequence[Sequence[Measure]]) -> None:
    plan, record = recorded.run.plan, recorded.record
    throughputs_bps = per_second(record.samples, plan.schedule)
    for flow, colour, measured in zip(plan.schedule.flows, flow_colours(plan), means, strict=True):
        axes.plot(
            throughputs_bps.index, smoothed(throughputs_bps[flow.name]) / 1e6, color=colour,
            linewidth=0.6, alpha=CURVE_ALPHA,
        )  # fmt: skip
        label = f"{plan.flow_mtu_bytes(flow)} bytes, {plan.host_rtt_ms(flow.sender):g} ms"
        for measure in measured:
            printed = "" if measure.printed is None else f", published {measure.printed.value:g}"
            axes.hlines(
                measure.value, flow_metrics.warm_up_end_s(record), plan.schedule.duration_s,
                color=colour, linewidth=2,
                label=f"{label}: mean {measure.value:.0f}{printed} Mbit/s",
            )  # fmt: skip
            if measure.printed is not None:
                axes.axhline(measure.printed.value, color=colour, linewidth=1, linestyle=":")
    axes.set_xlim(0, plan.schedule.duration_s)
    axes.set_ylim(0, 1.02 * plan.path.rate_bps / 1e6)
    axes.set_ylabel("throughput (Mbit/s)")
    axes.grid(True, color=RULE, linewidth=0.3)
    axes.legend(fontsize=7, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)


def draw_window_cap(runs: Sequence[RecordedRun]) -> Figure:
    """Draw throughput and window over time, a column for each run."""
    from matplotlib.figure import Figure

    printed = published_measures()[window_cap.PUBLISHED].value
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
                window_cap.STARTED_S,
                color=QUIET,
                linewidth=0.6,
                label="the mean is of the time after this line",
            )
            hosts = f", {plan.era.name}" if plan.era.card_rate_bps is not None else ""
            bdps = window_cap.window_bdps(plan.path)
            window = f", {bdps:.1f} BDP" if bdps > window_cap.CAP else ""
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
