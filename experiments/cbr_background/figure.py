"""The figure of congestion windows next to traffic of a constant bit rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.report.figures.decimate import min_max_points
from farpath.report.figures.run_over_time import flow_colours
from farpath.report.figures.style import FULL_IN, INK, QUIET, RULE, TALL_IN, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The heights in a frame at which recoveries and timeouts are marked, as fractions.
RECOVERIES_AT, TIMEOUTS_AT = 0.02, 0.06


def draw_cbr_windows(runs: Sequence[RecordedRun]) -> Figure:
    """Draw traced windows over time, a frame for each run, on one scale."""
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=FULL_IN if len(runs) == 1 else TALL_IN, layout="constrained")
        frames = figure.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, recorded in zip(frames, runs, strict=True):
            _draw_cbr_window(axes, recorded)
        frames[0].set_ylim(bottom=0)
        frames[0].legend(
            fontsize=7, frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=3
        )
        frames[-1].set_xlabel("time (s)")
        figure.suptitle("Windows next to traffic of a constant bit rate")
    return figure


def _draw_cbr_window(axes: Axes, recorded: RecordedRun) -> None:
    trace = flow_metrics.first_flow_trace(recorded.record)
    assert trace is not None
    axes.plot(
        *min_max_points(trace["t_s"], trace["cwnd_packets"]),
        color=flow_colours(recorded.run.plan)[0],
        linewidth=0.8,
    )
    marks = (
        (analysis.RECOVERY, analysis.RECOVERIES, RECOVERIES_AT, "|", QUIET),
        (analysis.LOSS, analysis.TIMEOUTS, TIMEOUTS_AT, "x", INK),
    )
    for state, label, height, mark, colour in marks:
        times_s = analysis.state_entry_times_s(trace, state)
        axes.plot(
            times_s, [height] * len(times_s), mark, color=colour, label=label, markersize=5,
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
    axes.set_title(
        f"{recorded.run.plan.stacks[0].label}, {recorded.run.plan.path.title}", loc="left"
    )
    axes.set_ylabel("congestion window (packets)")
    axes.grid(True, color=RULE, linewidth=0.3)


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all runs."""
    if runs:
        yield analysis.EXPERIMENT, draw_cbr_windows(runs)
