"""Figures of L4S: Prague's share and both waits, by queue and RTT, and on links of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.intervals import draw_intervals, side_by_side
from farpath.report.figures.markers import style_of
from farpath.report.figures.style import FULL_IN, INK, RULE, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The runs of the figure by RTT have this rate and buffer, two flows and no impairment.
RATE, BUFFER = "40Mbit", "100ms"
#: Space between two links that the marks of their queues take.
SPREAD = 0.6
HEADINGS = {
    analysis.SHARE: "share of Prague",
    analysis.FIRST_WAIT: "wait of Prague (ms)",
    analysis.SECOND_WAIT: "wait of CUBIC (ms)",
}


def _rtt_ms(measure: Measure) -> float:
    return float(measure.about["rtt"].removesuffix("ms"))


def _is_in_grid(measure: Measure) -> bool:
    about = measure.about
    return (about["stack"], about["rate"], about["buffer"], about["flows"]) == (
        analysis.COUPLED_STACKS, RATE, BUFFER, "2",
    ) and not any(about[option] for option in analysis.IMPAIRMENTS)  # fmt: skip


def draw_queues(measures: Sequence[Measure]) -> Figure:
    """Draw share and waits by RTT, a line for each queue, with intervals over ten draws."""
    from matplotlib.figure import Figure

    grid = [each for each in measures if _is_in_grid(each)]
    queues = list(dict.fromkeys(each.about["queue"] for each in grid))
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        for axes, (quantity, heading) in zip(
            figure.subplots(1, len(HEADINGS)), HEADINGS.items(), strict=True
        ):
            of_quantity = select_measures(grid, quantity)
            for index, queue in enumerate(queues):
                colour, mark = style_of(index)
                of_queue = [each for each in of_quantity if each.about["queue"] == queue]
                draw_intervals(axes, of_queue, _rtt_ms, mark, colour, queue)
            axes.set_xscale("log", base=2)
            ticks = sorted({_rtt_ms(each) for each in of_quantity})
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            axes.set_xlabel("RTT (ms)")
            axes.set_title(heading, fontsize=8)
            axes.grid(True, color=RULE, linewidth=0.3)
            if quantity == analysis.SHARE:
                shares = [analysis.coupled_share(tick) for tick in ticks]
                axes.plot(ticks, shares, "--", color=INK, linewidth=0.8, label="coupling")
                axes.set_ylim(0, 1)
                axes.legend(frameon=False, fontsize=7)
            else:
                axes.set_yscale("log")
    return figure


def draw_traces(measures: Sequence[Measure]) -> Figure:
    """Draw shares, waits and utilisation on links whose rate is a trace, a mark for each queue."""
    from matplotlib.figure import Figure

    paths, queues = (
        list(dict.fromkeys(each.about[name] for each in measures)) for name in ("path", "queue")
    )

    def place(measure: Measure) -> float:
        index = queues.index(measure.about["queue"])
        return side_by_side(paths.index(measure.about["path"]), index, len(queues), SPREAD)

    headings = {**HEADINGS, analysis.UTILISATION: analysis.UTILISATION}
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(1, len(headings))
        for axes, (quantity, heading) in zip(frames, headings.items(), strict=True):
            for index, queue in enumerate(queues):
                colour, mark = style_of(index)
                of_queue = [
                    each
                    for each in select_measures(measures, quantity)
                    if each.about["queue"] == queue
                ]
                draw_intervals(axes, of_queue, place, mark, colour, queue, joined=False)
            axes.set_title(heading, fontsize=8)
            axes.set_xticks(range(len(paths)), [path.partition("-")[0] for path in paths])
            axes.set_xlim(-0.5, len(paths) - 0.5)
            axes.grid(True, axis="y", color=RULE, linewidth=0.3)
            if "wait" in heading:
                axes.set_yscale("log")
            else:
                axes.set_ylim(0, 1.1)
        figure.legend(*frames[0].get_legend_handles_labels(), loc="outside lower center",
                      ncols=len(queues), frameon=False, fontsize=7)  # fmt: skip
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the figure by RTT and the one of the links of a trace."""
    if any(_is_in_grid(each) for each in measures):
        yield analysis.EXPERIMENT, draw_queues(measures)
    traced = [
        each
        for each in measures
        if each.about["path"] and each.about["stack"] == analysis.COUPLED_STACKS
    ]
    if traced:
        yield f"{analysis.EXPERIMENT}-traces", draw_traces(traced)
