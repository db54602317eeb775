"""The figures of cross traffic: what a third host's stack leaves, the RTT, and short flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.markers import style_of
from farpath.report.figures.stack_colours import NEUTRALS, look_of
from farpath.report.figures.style import INK, RULE, TALL_IN, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The height of a path's frames in inches: that of a stack, and that around them.
STACK_IN, AROUND_IN = 0.22, 0.9
#: Of the third host's throughput, which parts it from that of Reno beside Reno.
THIRD_HATCH = "////"
#: The percentiles of completion times that are drawn, in the order of their marks.
PERCENTILES = (analysis.MEDIAN, analysis.P95, analysis.P99)


def draw_cross_traffic(measures: Sequence[Measure]) -> Figure:
    """Draw two frames for each path: both throughputs on each other, and the RTT +- its SD."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    by_path: dict[str, list[Measure]] = {}
    for measure in measures:
        if measure.about["beside"] == analysis.ALONE:
            continue
        by_path.setdefault(measure.about["path"], []).append(measure)
    heights = [
        AROUND_IN + STACK_IN * len(select_measures(of_path, analysis.RENO))
        for of_path in by_path.values()
    ]
    with print_style():
        figure = Figure(figsize=(TALL_IN[0], sum(heights)), layout="constrained")
        frames = figure.subplots(
            len(by_path), 2, squeeze=False, sharey="row", gridspec_kw={"height_ratios": heights}
        )
        for (rates, rtts), (path, of_path) in zip(frames, by_path.items(), strict=True):
            _draw_path(rates, rtts, of_path)
            rates.set_title(path, loc="left")
        reno = Patch(color=look_of("reno").colour, label="Reno")
        third = Patch(
            facecolor=NEUTRALS[0], hatch=THIRD_HATCH, edgecolor="white", linewidth=0,
            label="the third host",
        )  # fmt: skip
        frames[0][0].legend(
            handles=[reno, third],
            frameon=False,
            fontsize=8,
            loc="lower right",
            bbox_to_anchor=(1, 1),
            ncols=2,
        )
    return figure


def _draw_path(rates: Axes, rtts: Axes, measures: Sequence[Measure]) -> None:
    def values(quantity: str) -> dict[str, float]:
        return {each.about["beside"]: each.value for each in select_measures(measures, quantity)}

    reno, cross = values(analysis.RENO), values(analysis.CROSS)
    means, spreads = values(analysis.RTT_MEAN), values(analysis.RTT_STD)
    stacks, rows = list(reno), range(len(reno))
    of_reno = [reno[stack] for stack in stacks]
    rates.barh(rows, of_reno, color=look_of("reno").colour)
    rates.barh(
        rows, [cross.get(stack, 0.0) for stack in stacks], left=of_reno,
        color=[look_of(stack.partition(" ")[0]).colour for stack in stacks], hatch=THIRD_HATCH,
        edgecolor="white", linewidth=0,
    )  # fmt: skip
    rates.set_xlabel("throughput (Mbit/s)")
    rtts.errorbar(
        [means[stack] for stack in stacks], rows, xerr=[spreads[stack] for stack in stacks],
        fmt="o", color=INK,
    )  # fmt: skip
    rtts.set_xlabel("mean RTT (ms), with its SD each way")
    for axes in (rates, rtts):
        axes.grid(True, axis="x", color=RULE, linewidth=0.3)
    rates.set_yticks(rows, [f"beside {stack}" for stack in stacks])
    rates.invert_yaxis()


def draw_completions(measures: Sequence[Measure]) -> Figure:
    """Draw a frame for each class of sizes of short flows: completion times by what is beside them.

    ``measures``: some of them are ``analysis.MEDIAN``.
    """
    from matplotlib.figure import Figure

    medians = select_measures(measures, analysis.MEDIAN)
    classes = list(dict.fromkeys(each.about["sizes"] for each in medians))
    beside = list(dict.fromkeys(each.about["beside"] for each in medians))
    columns = min(2, len(classes))
    lines = -(-len(classes) // columns)
    height_in = lines * (AROUND_IN + STACK_IN * len(beside))
    with print_style():
        figure = Figure(figsize=(TALL_IN[0], height_in), layout="constrained")
        frames = figure.subplots(lines, columns, squeeze=False, sharey=True).flat
        for axes, sizes in zip(frames, classes, strict=False):
            for index, quantity in enumerate(PERCENTILES):
                chosen = select_measures(measures, quantity, sizes=sizes)
                colour, mark = style_of(index)
                axes.plot(
                    [each.value for each in chosen],
                    [beside.index(each.about["beside"]) for each in chosen],
                    mark, color=colour, markersize=4, label=quantity.split()[0],
                )  # fmt: skip
            axes.set_xlim(left=0)
            axes.set_xlabel("completion time (ms)")
            axes.set_title(f"flows of {sizes}", loc="left")
            axes.grid(True, axis="x", color=RULE, linewidth=0.3)
        for axes in list(figure.axes)[len(classes) :]:
            axes.set_visible(False)
        first = figure.axes[0]
        first.set_yticks(range(len(beside)), [_row_title(each) for each in beside])
        first.set_ylim(len(beside) - 0.5, -0.5)
        handles, labels = first.get_legend_handles_labels()
        figure.legend(
            handles, labels, frameon=False, fontsize=8, ncols=len(PERCENTILES),
            loc="outside upper right",
        )  # fmt: skip
    return figure


def _row_title(beside: str) -> str:
    """Return what short flows share a path with."""
    if beside == analysis.ALONE:
        return "no long flow"
    stacks = beside.removesuffix(analysis.SHORT_FLOWS).removesuffix(" and ")
    return f"Reno and {stacks}" if stacks else "Reno"


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw what long flows get, and how long short flows take."""
    if select_measures(measures, analysis.RENO):
        yield analysis.EXPERIMENT, draw_cross_traffic(measures)
    if select_measures(measures, analysis.MEDIAN):
        yield f"{analysis.EXPERIMENT}-short-flows", draw_completions(measures)
