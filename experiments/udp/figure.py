"""The figure of datagrams: throughput, loss and jitter against spacing, and beside TCP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.markers import marks_and_theory
from farpath.report.figures.stack_colours import NEUTRALS, look_of
from farpath.report.figures.style import RULE, TALL_IN, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_datagrams(measures: Sequence[Measure]) -> Figure:
    """Draw both against spacing, a curve for each size and bottleneck; below, the runs beside TCP.

    Between them one-way jitter, if arrivals were noted, its mean and its 99th percentile.

    Marks are measured and lines theory. A run beside TCP has both throughputs on each other, and
    the part of the datagrams lost.
    """
    from matplotlib.figure import Figure

    alone = [measure for measure in measures if not measure.about["beside"]]
    beside = [measure for measure in measures if measure.about["beside"]]
    jitter = select_measures(alone, analysis.JITTER)
    rows = bool(alone) + bool(jitter) + bool(beside)
    with print_style():
        figure = Figure(figsize=(TALL_IN[0], TALL_IN[1] * rows / 2), layout="constrained")
        frames = figure.subplots(rows, 2, squeeze=False)
        if alone:
            _draw_alone(frames[0][0], frames[0][1], alone)
        if jitter:
            _draw_jitter(frames[1][0], frames[1][1], alone)
        if beside:
            _draw_beside(frames[-1][0], frames[-1][1], beside)
    return figure


def _draw_alone(rates: Axes, losses: Axes, measures: Sequence[Measure]) -> None:
    for axes, quantity, label in (
        (rates, analysis.THROUGHPUT, "throughput (Mbit/s)"),
        (losses, analysis.LOSS, "part of the datagrams lost"),
    ):
        _draw_by_spacing(axes, select_measures(measures, quantity), label)
    rates.set_title("alone: measured (marks), what is possible (lines)", loc="left", fontsize=8)
    rates.legend(fontsize=7, frameon=False)


def _draw_jitter(means: Axes, percentiles: Axes, measures: Sequence[Measure]) -> None:
    for axes, quantity, label in (
        (means, analysis.JITTER, "one-way jitter, mean (us)"),
        (percentiles, analysis.JITTER_P99, "one-way jitter, 99th percentile (us)"),
    ):
        _draw_by_spacing(axes, select_measures(measures, quantity), label)


def _draw_by_spacing(axes: Axes, measures: Sequence[Measure], label: str) -> None:
    """Draw one quantity's measures over the time between two datagrams."""
    _draw_quantity(axes, measures)
    axes.set_xlabel("time between two datagrams (us)")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.grid(True, color=RULE, linewidth=0.3)


def _draw_quantity(axes: Axes, measures: Sequence[Measure]) -> None:
    curves: dict[tuple[str, str], list[Measure]] = {}
    for measure in measures:
        curves.setdefault((measure.about["size"], measure.about["rate"]), []).append(measure)
    for index, ((size, rate), curve) in enumerate(curves.items()):
        spacings_us = [(float(each.about["spacing"]), each) for each in curve]
        marks_and_theory(axes, index, spacings_us, f"{size} bytes, bottleneck of {rate} Mbit/s")


def _draw_beside(rates: Axes, losses: Axes, measures: Sequence[Measure]) -> None:
    from matplotlib.patches import Patch

    def values(quantity: str) -> dict[str, float]:
        return {each.about["beside"]: each.value for each in select_measures(measures, quantity)}

    datagrams, tcp = values(analysis.THROUGHPUT), values(analysis.TCP_THROUGHPUT)
    stacks, rows = list(datagrams), range(len(datagrams))
    sent = [datagrams[stack] for stack in stacks]
    of_udp, colours = look_of("udp"), [look_of(stack).colour for stack in stacks]
    bars: dict[str, Any] = {
        "facecolor": of_udp.colour, "hatch": of_udp.hatch, "edgecolor": "white", "linewidth": 0,
    }  # fmt: skip
    rates.barh(rows, sent, **bars)
    rates.barh(rows, [tcp[stack] for stack in stacks], left=sent, color=colours)
    legend = [Patch(label="datagrams", **bars), Patch(facecolor=NEUTRALS[0], label="TCP")]
    rates.set_xlabel("throughput (Mbit/s)")
    rates.legend(
        handles=legend, frameon=False, fontsize=7, loc="lower right", bbox_to_anchor=(1, 1), ncols=2
    )
    lost = values(analysis.LOSS)
    losses.barh(rows, [lost[stack] for stack in stacks], **bars)
    losses.set_xlabel("part of the datagrams lost")
    rates.set_yticks(rows, [f"beside {stack}" for stack in stacks])
    losses.set_yticks(rows, [""] * len(stacks))
    for axes in (rates, losses):
        axes.grid(True, axis="x", color=RULE, linewidth=0.3)
        axes.invert_yaxis()


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_datagrams(measures)
