"""The figure of ``db``: the latency of each transaction over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.presets.db.pgbench import PgbenchReport
from farpath.report.figures.stack_colours import series_colour
from farpath.report.figures.style import FULL_IN, QUIET, print_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_transactions(report: PgbenchReport, least_ms: float, most_tps: float) -> Figure:
    """Draw latencies over time, with the round trips of a transaction's statements as a line.

    ``least_ms``: those round trips. ``most_tps``: the bound of transactions per second.
    """
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        axes = figure.subplots()
        axes.plot(
            [one.end_s for one in report.transactions],
            [one.latency_ms for one in report.transactions],
            "o", color=series_colour(1), markersize=3, alpha=0.6, label="a transaction",
        )  # fmt: skip
        axes.axhline(least_ms, color=QUIET, linewidth=0.8, label="round trips of its statements")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("time since the first transaction began (s)")
        axes.set_ylabel("latency (ms)")
        axes.legend(loc="lower right", fontsize=7.5)
        axes.set_title(f"{report.tps:.2f} transactions per s; bound {most_tps:.2f}")
    return figure
