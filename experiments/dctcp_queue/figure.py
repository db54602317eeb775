"""The figure of queues at the switch: their distribution for each stack and number of flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.report.figures.marks import style_of
from farpath.report.figures.style import FULL_IN, QUIET, RULE, print_style
from farpath.runs.experiment import RecordedRun

from . import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_distributions(runs: Sequence[RecordedRun]) -> Figure:
    """Draw the part of the samples in which the queue was at most so long; all seeds together."""
    from matplotlib.figure import Figure

    by_stack: dict[str, list[float]] = {}
    for recorded in runs:
        queue = recorded.record.samples.queue
        settled = queue[queue["t_s"] >= flow_metrics.warm_up_end_s(recorded.record)]
        packets = 1 + settled["backlog_packets"].to_numpy(dtype=np.float64)
        by_stack.setdefault(recorded.run.request.stack, []).extend(packets)
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        axes = figure.subplots()
        for index, (stack, values) in enumerate(by_stack.items()):
            axes.ecdf(values, color=style_of(index)[0], label=stack)
        axes.axvline(analysis.THRESHOLD_PACKETS, color=QUIET, linewidth=0.7, linestyle="--")
        axes.set_xlabel("queue (packets)")
        axes.set_ylabel("part of samples")
        axes.set_xlim(left=0)
        axes.grid(True, color=RULE, linewidth=0.3)
        axes.legend(frameon=False, fontsize=7)
    return figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all runs."""
    if runs:
        yield analysis.EXPERIMENT, draw_distributions(runs)
