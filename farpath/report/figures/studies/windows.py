"""Figures of congestion windows over time, after losses and next to other traffic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from farpath.analysis.studies import cbr_background, recovery
from farpath.analysis.studies.measure import RecordedRun
from farpath.base.path_variants import DROPPING, without
from farpath.metrics import flow as flow_metrics
from farpath.report.figures.decimate import min_max_points
from farpath.report.figures.run import flow_colours
from farpath.report.figures.stack_colours import looks_of
from farpath.report.figures.style import FULL_IN, INK, QUIET, RULE, TALL_IN, print_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The heights in a frame at which recoveries and timeouts are marked, as fractions.
RECOVERIES_AT, TIMEOUTS_AT = 0.02, 0.06


def draw_recoveries(runs: Sequence[RecordedRun]) -> Figure:
    """Draw windows over time on one path, a curve for each run, a frame for each length."""
    from matplotlib.figure import Figure

    lengths_s = sorted({recorded.run.plan.schedule.duration_s for recorded in runs})
    with print_style():
        figure = Figure(figsize=_size_in(lengths_s), layout="constrained")
        frames = figure.subplots(len(lengths_s), 1, sharey=True, squeeze=False)[:, 0]
        for axes, length_s in zip(frames, lengths_s, strict=True):
            _draw_recoveries(
                axes,
                [
                    recorded
                    for recorded in runs
                    if recorded.run.plan.schedule.duration_s == length_s
                ],
            )
        frames[0].set_ylim(bottom=0)
        frames[-1].set_xlabel("time (s)")
        title = without(runs[0].run.plan.path.title, DROPPING)
        figure.suptitle(f"Recoveries: {title}")
    return figure


def _size_in(frames: Sequence[object]) -> tuple[float, float]:
    return FULL_IN if len(frames) == 1 else TALL_IN


def _draw_recoveries(axes: Axes, runs: Sequence[RecordedRun]) -> None:
    looks = looks_of([recorded.run.plan.stacks[0].label for recorded in runs])
    for look, recorded in zip(looks, runs, strict=True):
        plan = recorded.run.plan
        windows = recovery.window_series(recorded.record)
        acks = "delayed ACKs" if plan.settings.delayed_ack else "each packet acknowledged"
        label = f"{plan.stacks[0].label}, {acks}, {recorded.run.request.drop}"
        axes.plot(
            windows["t_s"], windows["window"], color=look.colour, linewidth=0.9,
            linestyle=look.linestyle, label=label,
        )  # fmt: skip
    axes.set_ylabel("congestion window (packets)")
    axes.grid(True, color=RULE, linewidth=0.3)
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def draw_cbr_windows(runs: Sequence[RecordedRun]) -> Figure:
    """Draw traced windows over time, a frame for each run, on one scale."""
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=_size_in(runs), layout="constrained")
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
        (cbr_background.RECOVERY, cbr_background.RECOVERIES, RECOVERIES_AT, "|", QUIET),
        (cbr_background.LOSS, cbr_background.TIMEOUTS, TIMEOUTS_AT, "x", INK),
    )
    for state, label, height, mark, colour in marks:
        times_s = cbr_background.state_entry_times_s(trace, state)
        axes.plot(
            times_s, [height] * len(times_s), mark, color=colour, label=label, markersize=5,
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
    axes.set_title(
        f"{recorded.run.plan.stacks[0].label}, {recorded.run.plan.path.title}", loc="left"
    )
    axes.set_ylabel("congestion window (packets)")
    axes.grid(True, color=RULE, linewidth=0.3)
