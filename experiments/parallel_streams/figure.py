"""The figure of a matrix: throughput by the number of streams and their window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.style import FULL_IN, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Cells darker than this part of the colour scale have white text.
DARK_PART = 0.55


def draw_streams(measures: Sequence[Measure]) -> Figure:
    """Draw the sum of all streams: streams across, windows up, a frame for each path and host.

    UDT and runs with streams both ways are not in it.
    """
    from matplotlib.figure import Figure

    one_way = [
        measure
        for measure in measures
        if "reverse" not in measure.about and measure.about["stack"] != analysis.UDT
    ]
    sums = select_measures(one_way, analysis.SUM)
    deviations = {
        _cell(measure): measure for measure in select_measures(one_way, analysis.DEVIATION)
    }
    groups: dict[tuple[str, ...], list[Measure]] = {}
    for measure in sums:
        key = tuple(measure.about[word] for word in ("path", "mtu", "toe"))
        groups.setdefault(key, []).append(measure)
    widths = [len({measure.about["streams"] for measure in group}) for group in groups.values()]
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(
            1, len(groups), squeeze=False, gridspec_kw={"width_ratios": widths}
        )[0]
        most = max(measure.value for measure in sums) / 1e3
        for axes, ((path, mtu, toe), group) in zip(frames, groups.items(), strict=True):
            _draw_matrix(axes, group, deviations, most)
            offload = ",\noffload" if toe == "yes" else ""
            axes.set_title(f"{path},\nMTU {mtu}{offload}", loc="left", fontsize=8)
            axes.set_xlabel("streams")
        frames[0].set_ylabel("window of each stream (MB)")
        figure.suptitle(
            "Throughput of all streams in Gbit/s +- its deviation over seconds (as published)"
        )
    return figure


def _cell(measure: Measure) -> tuple[str, ...]:
    """Return what tells a run of streams one way from the others."""
    words = ("path", "mtu", "toe", "streams", "window")
    return tuple(measure.about[word] for word in words)


def _gbps(measure: Measure, deviation: Measure | None) -> tuple[str, str]:
    """Return a throughput in Gbit/s and the published one, each with its deviation if there is."""
    texts = [f"{measure.value / 1e3:.2f}", ""]
    if measure.printed is not None:
        texts[1] = f"{measure.printed.value / 1e3:.2f}"
    if deviation is not None:
        texts[0] += f"\n+-{deviation.value / 1e3:.3f}"
        if deviation.printed is not None:
            texts[1] += f"\n+-{deviation.printed.value / 1e3:.3f}"
    return texts[0], texts[1]


def _draw_matrix(
    axes: Axes,
    measures: Sequence[Measure],
    deviations: Mapping[tuple[str, ...], Measure],
    most_gbps: float,
) -> None:
    streams = sorted({int(measure.about["streams"]) for measure in measures})
    windows = sorted({int(measure.about["window"]) for measure in measures})
    for measure in measures:
        column = streams.index(int(measure.about["streams"]))
        row = windows.index(int(measure.about["window"]))
        gbps = measure.value / 1e3
        axes.imshow(
            [[gbps]], extent=(column - 0.5, column + 0.5, row - 0.5, row + 0.5),
            vmin=0, vmax=most_gbps, cmap="Blues", origin="lower", aspect="auto",
        )  # fmt: skip
        measured, printed = _gbps(measure, deviations.get(_cell(measure)))
        text = f"{measured}\n({printed})" if printed else measured
        axes.text(
            column, row, text, ha="center", va="center", fontsize=7,
            color="white" if gbps > DARK_PART * most_gbps else "black",
        )  # fmt: skip
    axes.set_xlim(-0.5, len(streams) - 0.5)
    axes.set_ylim(-0.5, len(windows) - 0.5)
    axes.set_xticks(range(len(streams)), [str(count) for count in streams])
    axes.set_yticks(range(len(windows)), [f"{window / 1e6:g}" for window in windows])


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_streams(measures)
