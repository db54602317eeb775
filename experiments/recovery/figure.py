"""Figures of congestion windows over time after losses, one for each path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.base.path_variants import DROPPING, without
from farpath.metrics.measures import Measure
from farpath.metrics.window_recovery import window_series
from farpath.report.figures.stack_colours import looks_of
from farpath.report.figures.style import FULL_IN, RULE, TALL_IN, print_style
from farpath.runs.experiment import RecordedRun

from .analysis import EXPERIMENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
        windows = window_series(recorded.record)
        acks = "delayed ACKs" if plan.settings.delayed_ack else "each packet acknowledged"
        label = f"{plan.stacks[0].label}, {acks}, {recorded.run.request.drop}"
        axes.plot(
            windows["t_s"], windows["window"], color=look.colour, linewidth=0.9,
            linestyle=look.linestyle, label=label,
        )  # fmt: skip
    axes.set_ylabel("congestion window (packets)")
    axes.grid(True, color=RULE, linewidth=0.3)
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw a figure for each path."""
    by_path: dict[str, list[RecordedRun]] = {}
    for recorded in runs:
        by_path.setdefault(recorded.run.request.path or "", []).append(recorded)
    for path, path_runs in by_path.items():
        yield f"{EXPERIMENT}-{path}", draw_recoveries(path_runs)
