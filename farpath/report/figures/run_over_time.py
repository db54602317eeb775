"""The figure of one run over time: ping RTT and throughput per flow, as the paper's figures 2 to 5.

The paper draws both into one frame. Here the RTTs are above the throughputs on the same time axis,
so that neither hides the other. If the run has a trace, the congestion windows are below, and below
these what mechanisms show over time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from farpath.mechanisms.draw.mechanism import regions_of
from farpath.mechanisms.era.mechanism import era_text
from farpath.mechanisms.trace.trace_table import windows_mb
from farpath.metrics.run import per_second, smoothed_flows
from farpath.metrics.run_settings import schedule_text
from farpath.report.figures.decimate import min_max_points
from farpath.report.figures.markers import style_of
from farpath.report.figures.save import save
from farpath.report.figures.stack_colours import MOST_NAMED, OTHER_COLOUR, hatch_of, looks_of
from farpath.report.figures.style import FULL_IN, QUIET, RULE, TALL_IN, print_style
from farpath.report.late_data import above_rate_note
from farpath.spec.era import MODERN
from farpath.spec.labels import flow_label, stacks_label
from farpath.spec.plan import Plan
from farpath.spec.settings import VIRTUAL_CLOCK

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from farpath.mechanisms.mechanism import Panel
    from farpath.metrics.run import Array
    from farpath.record.record import Samples

LOST_COLOUR = "#c00000"
#: Marks of pings are smaller if there are more than this.
SMALL_MARKS_ABOVE_PINGS = 300
#: The interval of throughput values in s, which means no smoothing.
UNSMOOTHED_S = 1
#: A time axis has ticks one region apart if their number is within this range.
REGION_TICKS = (5, 17)
#: A region that is a smaller fraction of the run is labelled by its number alone.
MIN_NAMED_FRACTION = 0.08
#: The characters that fit a line of the legend, and those that each entry's colour takes.
LEGEND_CHARS, ENTRY_CHARS = 115, 8
#: The characters that fit a line of the heading and of a note.
NOTE_CHARS = 105
HEADING_CHARS = 95


def title(plan: Plan) -> str:
    """Return the title of a run's figure: path, stack, era of the hosts, length and seed."""
    path = plan.path.title or plan.path.name
    era = era_text(plan.era)
    hosts = "today's hosts" if era == MODERN.name else f"hosts of era {era}"
    length = schedule_text(plan)
    return f"{path}: {stacks_label(plan.schedule)}, {hosts}, {length}, seed {plan.seed}"


def boundaries_s(plan: Plan) -> list[float]:
    """Return the times in s at which one region ends and the next begins."""
    return [region.start_s for region in regions_of(plan)][1:]


def region_tick_s(plan: Plan) -> float | None:
    """Return a region's length in s if ticks that far apart suit a time axis, else None."""
    fewest, most = REGION_TICKS
    ticks = plan.schedule.duration_s / plan.schedule.region_s + 1
    return plan.schedule.region_s if fewest <= ticks <= most else None


def _draw_rtt(axes: Axes, samples: Samples, plan: Plan) -> None:
    answered = samples.ping.dropna()
    axes.plot(
        answered["t_s"], answered["rtt_ms"], "+", color="black", mew=0.5, clip_on=False,
        markersize=3 if len(answered) > SMALL_MARKS_ABOVE_PINGS else 5,
    )  # fmt: skip
    max_ms = float(answered["rtt_ms"].max()) if len(answered) else plan.path.rtt_ms
    axes.set_ylim(0, 1.1 * max_ms)
    axes.set_ylabel("ping RTT (ms)\ndashes: base RTT")
    base_ms = [*plan.rtts.values, plan.rtts.values[-1]]
    axes.step(
        [*plan.rtts.at_s, plan.rtts.duration_s], base_ms, where="post", color=QUIET,
        linewidth=0.7, linestyle="--", zorder=0.6,
    )  # fmt: skip
    lost = samples.ping.loc[samples.ping["rtt_ms"].isna(), "t_s"]
    if len(lost):
        axes.plot(lost, [0.04 * max_ms] * len(lost), "x", color=LOST_COLOUR, markersize=3, mew=0.6)
        axes.text(
            0.995, 0.11, f"x: {len(lost)} lost", transform=axes.transAxes, ha="right",
            color=LOST_COLOUR,
        )  # fmt: skip


def _draw_throughput(
    axes: Axes, samples: Samples, plan: Plan, hatched: bool, smoothing_s: int
) -> None:
    """Draw every flow's throughput, stacked, with each second's mean as a step."""
    flows_bps = smoothed_flows(per_second(samples, plan.schedule), plan.schedule, smoothing_s)
    edges_s = np.arange(len(flows_bps) + 1)
    curves = [_step_values(flows_bps[flow.name] / 1e6) for flow in plan.schedule.flows]
    areas = axes.stackplot(
        edges_s, curves, labels=_legend_labels(plan, MOST_NAMED), linewidth=0,
        colors=flow_colours(plan), step="post",
    )  # fmt: skip
    looks = looks_of([flow.stack for flow in plan.schedule.flows])
    for number, (area, look) in enumerate(zip(areas, looks, strict=True)):
        area.set_hatch(hatch_of(number) if hatched else look.hatch)
        area.set_edgecolor("white")
    total = np.sum(curves, axis=0)
    axes.step(edges_s, total, color="black", linewidth=0.6, label="aggregate", where="post")
    _draw_rate(axes, plan)
    axes.set_ylim(0, 1.12 * max(max(plan.rates.values) / 1e6, float(total.max())))
    smoothing_text = f", over {smoothing_s} s" if smoothing_s > UNSMOOTHED_S else ""
    axes.set_ylabel(f"throughput (Mbit/s)\nstacked{smoothing_text}")


def _draw_rate(axes: Axes, plan: Plan) -> None:
    """Draw the bottleneck's rate, which may change, in dashes; of several there is no one rate."""
    if plan.bottlenecks > 1:
        return
    style: dict[str, Any] = {"color": "black", "linewidth": 0.7, "linestyle": "--"}
    style["label"] = "bottleneck rate"
    rates = plan.rates
    if not rates.changes:
        axes.axhline(rates.values[0] / 1e6, **style)
        return
    rates_mbps = np.array([*rates.values, rates.values[-1]]) / 1e6
    axes.step([*rates.at_s, rates.duration_s], rates_mbps, where="post", **style)


def flow_colours(plan: Plan) -> list[str]:
    """Return the colour of each flow: its stack's, in shades; of many flows one for the rest."""
    looks = looks_of([flow.stack for flow in plan.schedule.flows[:MOST_NAMED]])
    others = len(plan.schedule.flows) - len(looks)
    return [*(look.colour for look in looks), *[OTHER_COLOUR] * others]


def _legend_labels(plan: Plan, max_labels: int) -> list[str]:
    """Return each flow's label for the legend; flows without an own colour share one."""
    labels = [flow_label(flow) for flow in plan.schedule.flows]
    unlabelled = len(labels) - max_labels
    if unlabelled <= 0:
        return labels
    # Matplotlib omits labels that begin with an underscore from legends
    return [*labels[:max_labels], f"{unlabelled} more", *["_"] * (unlabelled - 1)]


def _step_values(values: pd.Series[float]) -> Array:
    """Return a value for each edge between seconds: the last value also holds at the end."""
    return np.append(values, values.iloc[-1])


def _draw_windows(axes: Axes, trace: pd.DataFrame, plan: Plan) -> None:
    """Draw each traced flow's congestion window, and its slow start threshold in dashes."""
    max_mb = 0.0
    for flow, colour in zip(plan.schedule.flows, flow_colours(plan), strict=True):
        rows = trace[trace["flow"] == flow.name]
        if not len(rows):
            continue
        cwnd_mb, ssthresh_mb = windows_mb(rows)
        max_mb = max(max_mb, float(cwnd_mb.max()))
        axes.plot(*min_max_points(rows["t_s"], cwnd_mb), color=colour, linewidth=0.8)
        axes.plot(
            *min_max_points(rows["t_s"], ssthresh_mb),
            color=colour, linewidth=0.6, linestyle=(0, (4, 2)), alpha=0.7,
        )  # fmt: skip
    axes.set_ylim(0, 1.08 * max_mb)
    axes.set_ylabel("cwnd (MB)\ndashes: ssthresh")


def _draw_panel(axes: Axes, panel: Panel) -> None:
    for index, curve in enumerate(panel.curves):
        colour, mark = style_of(index)
        axes.plot(
            curve.t_s, curve.values, marker=mark, markersize=2.5, color=colour, linewidth=0.9,
            label=curve.label,
        )  # fmt: skip
    highest = max((max(curve.values, default=0.0) for curve in panel.curves), default=0.0)
    axes.set_ylim(0, 1.12 * highest or 1)
    axes.set_ylabel(panel.heading)
    axes.legend(frameon=False, fontsize=7, loc="lower right")


def _mark_regions(axes: Axes, plan: Plan) -> None:
    for at_s in boundaries_s(plan):
        axes.axvline(at_s, color=RULE, linewidth=0.6, zorder=0.5)


def region_names(plan: Plan) -> list[str]:
    """Return the label of each region: if there are many, only their numbers fit."""
    regions = regions_of(plan)
    shortest_s = min(region.stop_s - region.start_s for region in regions)
    word = "region " if shortest_s >= MIN_NAMED_FRACTION * plan.schedule.duration_s else ""
    return [f"{word}{region.number}" for region in regions]


def number_regions(axes: Axes, plan: Plan) -> None:
    """Write each region's number above its stretch of time; a single one needs none."""
    if len(regions_of(plan)) == 1:
        return
    for region, name in zip(regions_of(plan), region_names(plan), strict=True):
        axes.text(
            (region.start_s + region.stop_s) / 2, 1.02, name, ha="center", va="bottom",
            fontsize=7.5, color=QUIET, transform=axes.get_xaxis_transform(),
        )  # fmt: skip


def draw(
    samples: Samples,
    plan: Plan,
    hatched: bool = False,
    heading: str = "",
    trace: pd.DataFrame | None = None,
    smoothing_s: int = UNSMOOTHED_S,
    further: Sequence[Panel] = (),
) -> Figure:
    """Draw the stacked throughput per flow, one value a second, below the ping RTT.

    ``hatched``: whether hatches part the flows, in grey too. ``heading``: the text above, by
    default the run's ``title``. ``trace``: the run's trace, if it has one. ``smoothing_s``: the
    time over which throughput is smoothed. ``further``: panels of mechanisms.
    """
    from matplotlib.figure import Figure

    with print_style():
        heights = [2, 3] if trace is None else [2, 3, 3]
        heights += [3] * len(further)
        figure = Figure(figsize=FULL_IN if len(heights) == 2 else TALL_IN, layout="constrained")
        panels = figure.subplots(
            len(heights), 1, sharex=True, gridspec_kw={"height_ratios": heights}
        )
        upper, lower = panels[:2]
        _draw_rtt(upper, samples, plan)
        _draw_throughput(lower, samples, plan, hatched, smoothing_s)
        if trace is not None:
            _draw_windows(panels[2], trace, plan)
        for axes, panel in zip(panels[len(panels) - len(further) :], further, strict=True):
            _draw_panel(axes, panel)
        virtual = plan.settings.clock == VIRTUAL_CLOCK
        above = above_rate_note(samples, plan)
        time_text = "time (s, virtual clock)" if virtual else "time (s)"
        panels[-1].set_xlabel("\n".join([time_text, *([fill(above, NOTE_CHARS)] if above else [])]))
        for axes in panels:
            axes.set_xlim(0, plan.schedule.duration_s)
            axes.spines[["top", "right"]].set_visible(False)
            _mark_regions(axes, plan)
        number_regions(upper, plan)
        if tick_s := region_tick_s(plan):
            lower.set_xticks(np.arange(0, plan.schedule.duration_s + tick_s / 2, tick_s))
        text = heading or fill(title(plan), HEADING_CHARS)
        figure.suptitle(text, fontsize=10, parse_math=False)
        _add_legend(figure, lower)
    return figure


def _add_legend(figure: Figure, axes: Axes) -> None:
    """Add the legend of a panel below all panels, in as many columns as fit."""
    handles, labels = axes.get_legend_handles_labels()
    widths = [len(label) + ENTRY_CHARS for label in labels]
    one_line = sum(widths) <= LEGEND_CHARS
    figure.legend(
        handles, labels, loc="outside lower center", frameon=False, handlelength=1.6,
        ncols=len(labels) if one_line else max(1, LEGEND_CHARS // max(widths)),
    )  # fmt: skip


def save_png(
    samples: Samples,
    plan: Plan,
    file: FilePath,
    trace: pd.DataFrame | None = None,
    further: Sequence[Panel] = (),
) -> None:
    """Save a run's figure as PNG."""
    save(draw(samples, plan, trace=trace, further=further), file)
