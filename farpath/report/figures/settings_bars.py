"""Figures of plain runs: the results of each set of settings, and every run over time."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.metrics.catalogue import RUN
from farpath.metrics.record_set import Group, RecordSet
from farpath.metrics.run_settings import group_settings
from farpath.record.record import load_record
from farpath.report.figures.run_over_time import draw
from farpath.report.figures.save import FORMATS, save
from farpath.report.figures.stack_colours import hatch_of, looks_of
from farpath.report.figures.style import FULL_IN, RULE, print_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from farpath.metrics.run import Summary

#: The name of the figure of all runs together.
OVERVIEW = "overview"
CAPTION = (
    "Mean throughput of the flows, stacked in their order, and the 99th percentile of ping RTTs; "
    "lines: base RTT, and with several seeds the 95 % confidence interval"
)
#: Heights in inches: of a line of a row's label, and of the axis below the rows.
LINE_IN, FRAME_IN = 0.17, 0.8
#: The characters that fit a line of a label.
LABEL_CHARS = 40


def labels(records: RecordSet) -> tuple[str, ...]:
    """Return the label of each group of runs: its stacks, and the settings that differ."""
    return tuple(
        "\n".join([group.members[0].stacks, *textwrap.wrap(settings, LABEL_CHARS)])
        for group, settings in zip(records.groups, group_settings(records), strict=True)
    )


def flow_means_mbps(summary: Summary) -> list[float]:
    """Return each flow's throughput over the whole run, in the order of the flows."""
    bits: dict[str, float] = {}
    for region in summary.regions:
        for flow, mean_bps in zip(region.flows, region.flow_means_bps, strict=True):
            bits[flow] = bits.get(flow, 0.0) + mean_bps * region.seconds
    duration_s = sum(region.seconds for region in summary.regions)
    in_order = sorted(bits, key=lambda flow: (len(flow), flow))
    return [bits[flow] / duration_s / 1e6 for flow in in_order]


def draw_overview(records: RecordSet, hatched: bool = False) -> Figure:
    """Draw one row for each group of runs: its flows' throughputs, and the RTT."""
    from matplotlib.figure import Figure

    groups = records.groups
    with print_style():
        names = labels(records)
        lines = 1.5 + max(name.count("\n") + 1 for name in names)
        size = (FULL_IN[0], FRAME_IN + LINE_IN * lines * len(groups))
        figure = Figure(figsize=size, layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True, gridspec_kw={"width_ratios": [3, 2]})
        for row, group in enumerate(groups):
            _draw_throughput(left, row, group, hatched)
            _draw_rtt(right, row, group)
        left.set_yticks(range(len(groups)), names)
        left.set_ylim(len(groups) - 0.4, -0.6)
        left.set_xlabel("mean throughput (Mbit/s)")
        right.set_xlabel("RTT, 99th percentile (ms)")
        right.set_xlim(left=0)
        right.margins(x=0.1)
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(axis="y", length=0)
            axes.grid(axis="x", color=RULE, linewidth=0.4)
            axes.set_axisbelow(True)
    return figure


def _draw_throughput(axes: Axes, row: int, group: Group, hatched: bool) -> None:
    runs = [flow_means_mbps(member.run.summary) for member in group.members]
    start = 0.0
    looks = looks_of([flow.stack for flow in group.members[0].plan.schedule.flows])
    for number, values in enumerate(zip(*runs, strict=True)):
        width = statistics.fmean(values)
        hatch = hatch_of(number) if hatched else looks[number].hatch
        axes.barh(
            row, width, 0.5, start, color=looks[number].colour, hatch=hatch, edgecolor="white",
            linewidth=0.4,
        )  # fmt: skip
        start += width
    total = group.over_seeds(lambda member: RUN["throughput_mbps"].number_of(member.run.summary))
    if len(group.seeds) > 1:
        axes.errorbar(total.mean, row, xerr=total.half_width, color="black", capsize=2, lw=0.8)


def _draw_rtt(axes: Axes, row: int, group: Group) -> None:
    p99_ms = group.over_seeds(lambda member: member.run.summary.rtt_p99_ms)
    base_ms = group.members[0].plan.path.rtt_ms
    axes.plot([base_ms, base_ms], [row - 0.35, row + 0.35], color="black", linewidth=0.8)
    axes.plot([base_ms, p99_ms.mean], [row, row], color=RULE, linewidth=1.2, zorder=1)
    axes.plot(p99_ms.mean, row, "o", color="black", markersize=4)
    if len(group.seeds) > 1:
        axes.errorbar(p99_ms.mean, row, xerr=p99_ms.half_width, color="black", capsize=2, lw=0.8)


def write_overview(records: RecordSet, out: FilePath, hatched: bool = False) -> Iterator[FilePath]:
    """Write the overview and yield each file; a single run has no overview."""
    if len(records.members) > 1:
        figure = draw_overview(records, hatched)
        for ending in FORMATS:
            yield _saved(figure, out / f"{OVERVIEW}.{ending}")


def write_figures(
    records: RecordSet, stems: Mapping[str, str], out: FilePath, hatched: bool = False
) -> Iterator[FilePath]:
    """Write the overview and every run over time; ``stems``: names of files by record."""
    yield from write_overview(records, out, hatched)
    for member in records.members:
        record = load_record(records.directory / member.run.record)
        figure = draw(record.samples, record.plan, hatched, trace=record.trace)
        for ending in FORMATS:
            yield _saved(figure, out / f"{stems[member.run.record]}.{ending}")


def _saved(figure: Figure, file: FilePath) -> FilePath:
    save(figure, file)
    return file
