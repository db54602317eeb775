"""The figure of a search for starvation: the least share over each condition, and the worst run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from farpath.metrics.run import per_second
from farpath.report.figures.stack_colours import looks_of
from farpath.report.figures.style import INK, QUIET, print_style
from farpath.report.late_data import above_rates_note
from farpath.uses.starvation.question import Starvation, Trial, worst
from farpath.uses.starvation.table import share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from farpath.record.record import Record
    from farpath.runs.ranges import Range

PANELS_IN_ROW = 2
#: Inches of a figure's width, and of the height of a row of panels and of a search's title.
WIDTH_IN, ROW_IN, TITLE_IN = 7.5, 1.9, 0.4
#: The characters that fit a line below a panel.
PANEL_NOTE_CHARS = 55


def draw_starvation(
    searches: Sequence[tuple[Starvation, tuple[Trial, ...]]], records: Sequence[Record]
) -> Figure:
    """Draw each search: a panel for each range, and one of the worst run over time.

    ``records``: of the worst trial of each search.
    """
    from matplotlib.figure import Figure

    rows = [math.ceil((len(search.ranges) + 1) / PANELS_IN_ROW) for search, _ in searches]
    heights_in = [TITLE_IN + ROW_IN * count for count in rows]
    with print_style():
        figure = Figure(figsize=(WIDTH_IN, sum(heights_in)), layout="constrained")
        parts = figure.subfigures(len(searches), 1, height_ratios=heights_in, squeeze=False)
        for part, (search, trials), record, count in zip(
            parts.flat, searches, records, rows, strict=True
        ):
            found = worst(trials)
            part.suptitle(
                f"{search.pair[0]} beside {search.pair[1]}: least share {share_text(found)} %",
                fontsize=10,
            )
            panels = list(part.subplots(count, PANELS_IN_ROW, squeeze=False).flat)
            for axes, each in zip(panels, search.ranges, strict=False):
                _draw_shares(axes, each, trials, found)
            _draw_flows(panels[len(search.ranges)], search, record)
            for axes in panels[len(search.ranges) + 1 :]:
                axes.set_axis_off()
            for axes in panels:
                axes.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_shares(axes: Axes, each: Range, trials: Sequence[Trial], found: Trial) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    known = [trial for trial in trials if trial.shares is not None]
    for points, colour, size in ((known, QUIET, 12), ([found], INK, 45)):
        axes.scatter(
            [trial.values[each.name] for trial in points],
            [100 * trial.least_share for trial in points],
            color=colour, s=size, marker="o" if points is known else "X", linewidths=0,
        )  # fmt: skip
    if each.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(0, 105)
    axes.set_xlabel(f"{each.name} ({each.unit})" if each.unit else each.name)
    axes.set_ylabel("least share (%)")


def _draw_flows(axes: Axes, search: Starvation, record: Record) -> None:
    """Draw the throughput of both flows of the worst run."""
    throughputs_bps = per_second(record.samples, record.plan.schedule)
    looks = looks_of(search.pair)
    for flow, stack, look in zip(record.plan.schedule.flows, search.pair, looks, strict=True):
        present = throughputs_bps.index > flow.start_s
        axes.plot(
            throughputs_bps.index[present] - 0.5,
            throughputs_bps[flow.name][present] / 1e6,
            color=look.colour,
            linestyle=look.linestyle,
            label=f"{flow.name} {stack}",
            linewidth=0.9,
        )
    axes.set_xlim(0, record.plan.schedule.duration_s)
    axes.set_ylim(bottom=0)
    note = fill(above_rates_note([record]), PANEL_NOTE_CHARS)
    axes.set_xlabel("\n".join(["time in the worst run (s)", *([note] if note else [])]))
    axes.set_ylabel("throughput (Mbit/s)")
    legend = axes.legend(frameon=False, loc="best")
    for text in legend.get_texts():
        text.set_parse_math(False)
