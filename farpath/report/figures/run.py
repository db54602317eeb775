"""One run over time: ping RTT and throughput per flow, as the paper's figures 2 to 5.

The paper draws both into one frame; here the RTTs stand above the throughputs on the
same time axis, where neither hides the other. Of a run with a trace the congestion windows
stand below.
"""

from __future__ import annotations

from pathlib import Path as FilePath
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from farpath.analysis.metrics import per_second, smoothed_flows
from farpath.record.trace_table import windows_mb
from farpath.report.figures.decimate import min_max_points
from farpath.report.figures.save import save
from farpath.report.figures.style import FULL_IN, NORMAL, QUIET, RULE, TALL_IN, Style, print_style
from farpath.spec.labels import flow_label, stacks_label
from farpath.spec.plan import Plan
from farpath.spec.settings import VIRTUAL_CLOCK

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from farpath.analysis.metrics import Array
    from farpath.record.record import Samples

LOST_COLOUR = "#c00000"
#: More points a curve's width on paper cannot show.
MOST_POINTS = 4000
#: With more pings than this their marks are drawn smaller.
MANY_PINGS = 300
#: Of throughput there is one value a second: so long is it smoothed where it is not.
RAW_S = 1
#: So few and so many ticks a time axis has at least and at most, if they are regions apart.
REGION_TICKS = (5, 17)
#: A region that is a smaller part of the run is called by its number alone.
LEAST_NAMED_PART = 0.08
#: So many letters a line of the legend holds, with so many for each entry's colour.
LEGEND_LETTERS, ENTRY_LETTERS = 115, 8
#: And so many a line of what stands above.
HEADING_LETTERS = 95


def title(plan: Plan) -> str:
    """What a figure is of: path, stack, the hosts' era, region and seed."""
    path = plan.path.title or plan.path.name
    region = f"regions of {plan.schedule.region_s:g} s"
    return f"{path}: {stacks_label(plan.schedule)}, era {plan.era.name}, {region}, seed {plan.seed}"


def boundaries_s(plan: Plan) -> list[float]:
    """Where one region ends and the next begins."""
    return [region.start_s for region in plan.schedule.regions()][1:]


def region_tick_s(plan: Plan) -> float | None:
    """A region's length, if that many s make as many ticks as a time axis should have."""
    fewest, most = REGION_TICKS
    ticks = plan.schedule.duration_s / plan.schedule.region_s + 1
    return plan.schedule.region_s if fewest <= ticks <= most else None


def _draw_rtt(axes: Axes, samples: Samples, plan: Plan) -> None:
    answered = samples.ping.dropna()
    axes.plot(
        answered["t_s"], answered["rtt_ms"], "+", color="black", mew=0.5, clip_on=False,
        markersize=3 if len(answered) > MANY_PINGS else 5,
    )  # fmt: skip
    most = float(answered["rtt_ms"].max()) if len(answered) else plan.path.rtt_ms
    axes.set_ylim(0, 1.1 * most)
    axes.set_ylabel("ping RTT (ms)")
    lost = samples.ping.loc[samples.ping["rtt_ms"].isna(), "t_s"]
    if len(lost):
        axes.plot(lost, [0.04 * most] * len(lost), "x", color=LOST_COLOUR, markersize=3, mew=0.6)
        axes.text(
            0.995, 0.11, f"x: {len(lost)} lost", transform=axes.transAxes, ha="right",
            color=LOST_COLOUR,
        )  # fmt: skip


def _draw_throughput(
    axes: Axes, samples: Samples, plan: Plan, style: Style, smoothing_s: int
) -> None:
    """Every flow's throughput on top of the others', each second's mean as a step."""
    flows_bps = smoothed_flows(per_second(samples, plan.schedule), plan.schedule, smoothing_s)
    edges_s = np.arange(len(flows_bps) + 1)
    curves = [_to_the_end(flows_bps[flow.name] / 1e6) for flow in plan.schedule.flows]
    areas = axes.stackplot(
        edges_s, curves, labels=_legend_labels(plan, len(style.flows)), linewidth=0,
        colors=[style.colour(number) for number in range(len(curves))], step="post",
    )  # fmt: skip
    for number, area in enumerate(areas):
        area.set_hatch(style.hatch(number))
        area.set_edgecolor("white")
    total = np.sum(curves, axis=0)
    axes.step(edges_s, total, color="black", linewidth=0.6, label="aggregate", where="post")
    rate_mbps = plan.path.rate_bps / 1e6
    axes.axhline(rate_mbps, color="black", linewidth=0.7, linestyle="--", label="bottleneck rate")
    axes.set_ylim(0, 1.12 * max(rate_mbps, float(total.max())))
    over = f", over {smoothing_s} s" if smoothing_s > RAW_S else ""
    axes.set_ylabel(f"throughput (Mbit/s)\nstacked{over}")


def _legend_labels(plan: Plan, most: int) -> list[str]:
    """Each flow's label for the legend; of those that have no colour of their own one for all."""
    labels = [flow_label(flow) for flow in plan.schedule.flows]
    further = len(labels) - most
    if further <= 0:
        return labels
    # A label that begins with an underscore is in no legend
    return [*labels[:most], f"{further} more", *["_"] * (further - 1)]


def _to_the_end(values: pd.Series[float]) -> Array:
    """A value for each edge between seconds: the last one's holds until the end."""
    return np.append(values, values.iloc[-1])


def _draw_windows(axes: Axes, trace: pd.DataFrame, style: Style, plan: Plan) -> None:
    """Each traced flow's congestion window, and its slow start threshold in dashes."""
    most_mb = 0.0
    for number, flow in enumerate(plan.schedule.flows):
        rows = trace[trace["flow"] == flow.name]
        if not len(rows):
            continue
        cwnd_mb, ssthresh_mb = windows_mb(rows)
        most_mb = max(most_mb, float(cwnd_mb.max()))
        colour = style.colour(number)
        axes.plot(*min_max_points(rows["t_s"], cwnd_mb, MOST_POINTS), color=colour, linewidth=0.8)
        axes.plot(
            *min_max_points(rows["t_s"], ssthresh_mb, MOST_POINTS),
            color=colour, linewidth=0.6, linestyle=(0, (4, 2)), alpha=0.7,
        )  # fmt: skip
    axes.set_ylim(0, 1.08 * most_mb)
    axes.set_ylabel("cwnd (MB)\ndashes: ssthresh")


def _mark_regions(axes: Axes, plan: Plan) -> None:
    for at_s in boundaries_s(plan):
        axes.axvline(at_s, color=RULE, linewidth=0.6, zorder=0.5)


def region_names(plan: Plan) -> list[str]:
    """What each region is called above it: of many regions the numbers alone have room."""
    regions = plan.schedule.regions()
    least_s = min(region.stop_s - region.start_s for region in regions)
    word = "region " if least_s >= LEAST_NAMED_PART * plan.schedule.duration_s else ""
    return [f"{word}{region.number}" for region in regions]


def number_regions(axes: Axes, plan: Plan) -> None:
    """Each region's number above its stretch of time."""
    for region, name in zip(plan.schedule.regions(), region_names(plan), strict=True):
        axes.text(
            (region.start_s + region.stop_s) / 2, 1.02, name, ha="center", va="bottom",
            fontsize=7.5, color=QUIET, transform=axes.get_xaxis_transform(),
        )  # fmt: skip


def draw(
    samples: Samples,
    plan: Plan,
    style: Style = NORMAL,
    heading: str = "",
    trace: pd.DataFrame | None = None,
    smoothing_s: int = RAW_S,
) -> Figure:
    """Stacked throughput per flow, one value a second, below the ping RTT.

    ``heading``: what stands above, the run's :func:`title` if nothing is given. ``trace``:
    the run's, if it has one. ``smoothing_s``: over how long throughput is smoothed.
    """
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=FULL_IN if trace is None else TALL_IN, layout="constrained")
        heights = [2, 3] if trace is None else [2, 3, 3]
        panels = figure.subplots(
            len(heights), 1, sharex=True, gridspec_kw={"height_ratios": heights}
        )
        upper, lower = panels[:2]
        _draw_rtt(upper, samples, plan)
        _draw_throughput(lower, samples, plan, style, smoothing_s)
        if trace is not None:
            _draw_windows(panels[2], trace, style, plan)
        virtual = plan.settings.clock == VIRTUAL_CLOCK
        panels[-1].set_xlabel("time (s, virtual clock)" if virtual else "time (s)")
        for axes in panels:
            axes.set_xlim(0, plan.schedule.duration_s)
            axes.spines[["top", "right"]].set_visible(False)
            _mark_regions(axes, plan)
        number_regions(upper, plan)
        if tick_s := region_tick_s(plan):
            lower.set_xticks(np.arange(0, plan.schedule.duration_s + tick_s / 2, tick_s))
        text = heading or fill(title(plan), HEADING_LETTERS)
        figure.suptitle(text, fontsize=10, parse_math=False)
        _add_legend(figure, lower)
    return figure


def _add_legend(figure: Figure, axes: Axes) -> None:
    """The legend of a panel below all of them, in as many columns as have room."""
    handles, labels = axes.get_legend_handles_labels()
    widths = [len(label) + ENTRY_LETTERS for label in labels]
    one_line = sum(widths) <= LEGEND_LETTERS
    figure.legend(
        handles, labels, loc="outside lower center", frameon=False, handlelength=1.6,
        ncols=len(labels) if one_line else max(1, LEGEND_LETTERS // max(widths)),
    )  # fmt: skip


def save_png(
    samples: Samples, plan: Plan, file: FilePath, trace: pd.DataFrame | None = None
) -> None:
    """A run's figure as PNG."""
    save(draw(samples, plan, trace=trace), file)
