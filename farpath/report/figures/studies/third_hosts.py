"""The figure of cross traffic: what a third host's stack leaves, and what the RTT becomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from farpath.analysis.studies import cross_traffic
from farpath.analysis.studies.measure import Measure, select_measures
from farpath.report.figures.studies.marks import COLOURS
from farpath.report.figures.style import FULL_IN, RULE, print_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Half of the RTT's standard deviation lies on each side of its mean.
HALF = 0.5


def draw_cross_traffic(measures: Sequence[Measure]) -> Figure:
    """Draw a line for each stack: both throughputs on each other, and the RTT with its spread."""
    from matplotlib.figure import Figure

    def values(quantity: str) -> dict[str, float]:
        return {each.about["beside"]: each.value for each in select_measures(measures, quantity)}

    reno, cross = values(cross_traffic.RENO), values(cross_traffic.CROSS)
    means, spreads = values(cross_traffic.RTT_MEAN), values(cross_traffic.RTT_STD)
    stacks = list(reno)
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        rates, rtts = figure.subplots(1, 2, sharey=True)
        rows = range(len(stacks))
        of_reno = [reno[stack] for stack in stacks]
        rates.barh(rows, of_reno, color=COLOURS[3], label="Reno")
        rates.barh(
            rows, [cross.get(stack, 0.0) for stack in stacks], left=of_reno, color=COLOURS[1],
            label="the third host",
        )  # fmt: skip
        rates.set_xlabel("throughput (Mbit/s)")
        rates.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
        rtts.errorbar(
            [means[stack] for stack in stacks], rows,
            xerr=[HALF * spreads[stack] for stack in stacks], fmt="o", color=COLOURS[0],
        )  # fmt: skip
        rtts.set_xlabel("mean RTT (ms), bars: its standard deviation")
        for axes in (rates, rtts):
            axes.grid(True, axis="x", color=RULE, linewidth=0.3)
        rates.set_yticks(rows, [f"beside {stack}" for stack in stacks])
        rates.invert_yaxis()
    return figure
