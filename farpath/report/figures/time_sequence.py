"""The figure of a connection: its time-sequence graph, windows, RTTs and one-way delays."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from farpath.report.connection_graphs import BARS, STEPS, Panel, Series
from farpath.report.figures.run_over_time import HEADING_CHARS
from farpath.report.figures.stack_colours import HUES, NEUTRALS
from farpath.report.figures.style import FULL_IN, print_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Heights in inches: of the time-sequence graph, of another panel, and of title and axis.
STEVENS_IN, PANEL_IN, REST_IN = 3.6, 1.7, 0.8
#: Width in points of bars that few segments have: they must be seen among many.
BOLD_PT = 2.5
#: Columns of a legend.
COLUMNS = 5


def draw_connection(panels: Sequence[Panel], title: str, span_s: tuple[float, float]) -> Figure:
    """Draw the panels of a connection below each other, over a span of time in s."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    heights = [STEVENS_IN if panel.name == "stevens" else PANEL_IN for panel in panels]
    with print_style():
        figure = Figure(figsize=(FULL_IN[0], sum(heights) + REST_IN), layout="constrained")
        rows = figure.subplots(
            len(panels), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
        )
        for panel, axes in zip(panels, rows[:, 0], strict=True):
            for series in panel.series:
                _draw(axes, series)
            axes.set_ylabel(panel.axis)
            if "bytes" in panel.axis:
                axes.yaxis.set_major_formatter(EngFormatter())
            if panel.range is not None:
                axes.set_ylim(panel.range)
            if panel.series:
                axes.legend(
                    loc="lower left", bbox_to_anchor=(0, 1), ncols=COLUMNS, fontsize=7,
                    frameon=False, markerscale=1.5, borderaxespad=0.1,
                )  # fmt: skip
            else:
                axes.text(0.5, 0.5, "nothing in this span", transform=axes.transAxes, ha="center")
        figure.suptitle(fill(title, HEADING_CHARS), fontsize=9.5)
        rows[-1, 0].set_xlim(*span_s)
        rows[-1, 0].set_xlabel("time (s)")
    return figure


def _draw(axes: Axes, series: Series) -> None:
    colour = NEUTRALS[0] if series.hue == "neutral" else HUES[series.hue][0]
    if series.form == BARS and series.top is not None:
        # Bars as one line with gaps, which is drawn in one go
        x = np.repeat(series.x, 3)
        y = np.column_stack([series.y, series.top, np.full(series.x.size, np.nan)]).ravel()
        width, mark = (BOLD_PT, ".") if series.is_bold else (1.0, "")
        axes.plot(
            x, y, color=colour, linewidth=width, marker=mark, markersize=4, label=series.label,
            rasterized=True,
        )  # fmt: skip
    elif series.form == STEPS:
        axes.plot(
            series.x, series.y, color=colour, linewidth=0.8, drawstyle="steps-post",
            label=series.label, rasterized=True,
        )  # fmt: skip
    else:
        axes.plot(
            series.x, series.y, series.mark, color=colour, markersize=3, label=series.label,
            rasterized=True,
        )  # fmt: skip
