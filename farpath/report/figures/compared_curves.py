"""The figure of a comparison: the curves of several runs over each other."""

from __future__ import annotations

from dataclasses import replace
from textwrap import fill
from typing import TYPE_CHECKING

from farpath.report.figures.run_over_time import HEADING_CHARS, NOTE_CHARS
from farpath.report.figures.stack_colours import Look, hue_looks, look_of, looks_of, neutral_looks
from farpath.report.figures.style import FULL_IN, print_style
from farpath.report.late_data import above_rates_note
from farpath.report.tables.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Height in inches of a panel, and of the title and a line of the legend.
PANEL_IN, LINE_IN = 1.9, 0.18


def looks_in(comparison: Comparison, panel: int) -> tuple[Look, ...]:
    """Return the look of each run in a panel, counted from 0.

    A run has its stack's colour if each run has a stack of its own. Else runs that are sorted by a
    number are shades, in a flow's panel those of its stack's colour; others have a hue each.
    """
    stacks = [{flow.stack for flow in run.record.plan.schedule.flows} for run in comparison.runs]
    names = [min(each) for each in stacks]
    if all(len(each) == 1 for each in stacks) and len(set(names)) == len(names):
        return looks_of(names)
    if not comparison.is_ordered:
        return hue_looks(len(comparison.runs))
    looks = neutral_looks(len(comparison.runs))
    if panel >= len(comparison.flows):
        return looks
    hue = look_of(comparison.flows[panel].stack).hue
    return tuple(replace(look, hue=hue) for look in looks)


def draw_comparison(comparison: Comparison) -> Figure:
    """Draw throughput, of each flow if all runs have the same, ping RTT and queue of each run."""
    from matplotlib.figure import Figure

    quantities = comparison.quantities
    height_in = PANEL_IN * len(quantities) + LINE_IN * (len(comparison.runs) + 3)
    with print_style():
        figure = Figure(figsize=(FULL_IN[0], height_in), layout="constrained")
        panels = figure.subplots(len(quantities), 1, sharex=True)
        for number, (axes, (quantity, curve_of)) in enumerate(
            zip(panels, quantities.items(), strict=True)
        ):
            for run, look in zip(comparison.runs, looks_in(comparison, number), strict=True):
                curve = curve_of(run.record)
                axes.plot(
                    curve.t_s, curve.values, color=look.colour, linestyle=look.linestyle,
                    linewidth=0.9,
                )  # fmt: skip
            axes.set_ylabel(quantity)
            axes.set_ylim(bottom=0)
            axes.spines[["top", "right"]].set_visible(False)
        note = fill(above_rates_note(run.record for run in comparison.runs), NOTE_CHARS)
        panels[-1].set_xlabel("\n".join(["time (s)", *([note] if note else [])]))
        panels[-1].set_xlim(left=0)
        figure.suptitle(fill(comparison.title, HEADING_CHARS), fontsize=10, parse_math=False)
        lines = panels[-1].get_lines()
        labels = [run.label for run in comparison.runs]
        legend = figure.legend(lines, labels, loc="outside lower center", frameon=False, ncols=1)
        for text in legend.get_texts():
            text.set_parse_math(False)
    return figure
