"""The figure of flows that differ: throughput over time, with means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure, select_measures
from farpath.metrics.run import per_second, smoothed
from farpath.report.figures.run_over_time import flow_colours
from farpath.report.figures.style import FULL_IN, RULE, TALL_IN, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Draws figures of measures and runs, each with its file's stem.
FiguresOf = Callable[[Sequence[Measure], Sequence[RecordedRun]], Iterator[tuple[str, "Figure"]]]
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
            plan, jitter = recorded.run.plan, analysis.jitter_text(recorded.run.plan)
            means = [
                [
                    measure
                    for measure in select_measures(
                        measures,
                        f"{analysis.THROUGHPUT}, {which}",
                        senders=recorded.run.request.senders or "",
                    )
                    if (measure.seed, measure.about.get(analysis.JITTER, "")) == (plan.seed, jitter)
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


def figures_of(experiment: str) -> FiguresOf:
    """Return the function that draws the one figure of an experiment with such flows."""

    def figures(
        measures: Sequence[Measure], runs: Sequence[RecordedRun]
    ) -> Iterator[tuple[str, Figure]]:
        if runs:
            yield experiment, draw_biases(measures, runs)

    return figures


figures = figures_of(analysis.EXPERIMENT)
