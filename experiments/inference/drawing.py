"""The figure of the inference: printed numbers beside the intervals that other stacks give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.report.figures.style import FULL_IN, INK, RULE, print_style

from .analysis import Inference, of_columns
from .surrogate import RTT_STD
from .tables import HEADINGS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_predictions(inference: Inference) -> Figure:
    """Draw a frame for each column of table 1 and a row for each stack; crosses are printed."""
    from matplotlib.figure import Figure

    columns = of_columns(inference)
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
        for axes, (column, predictions) in zip(frames, columns.items(), strict=True):
            rows = range(len(predictions))
            axes.hlines(
                rows, [each.low for each in predictions], [each.high for each in predictions],
                color=RULE, linewidth=4,
            )  # fmt: skip
            axes.plot([each.median for each in predictions], rows, "|", color=INK)
            axes.plot([each.printed for each in predictions], rows, "x", color=INK, markersize=5)
            axes.set_yticks(rows, [each.stack for each in predictions])
            axes.set_title(HEADINGS[column], fontsize=8)
            if column == RTT_STD:
                # Intervals of it span three powers of ten
                axes.set_xscale("log")
            else:
                axes.set_xlim(left=0)
        frames[0].invert_yaxis()
    return figure
