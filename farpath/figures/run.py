"""One run over time: ping RTT and throughput per flow, as the paper's figures 2 to 5.

The paper draws both into one frame; here the RTTs stand above the throughputs on the
same time axis, where neither hides the other.
"""

from __future__ import annotations

import math
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import numpy as np

from farpath.figures.save import save
from farpath.figures.style import FULL_IN, NORMAL, QUIET, RULE, Style, print_style
from farpath.metrics import SMOOTHING_S, per_second, smoothed
from farpath.plan import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from farpath.record import Samples

LOST_COLOUR = "#c00000"
#: With more pings than this their marks are drawn smaller.
MANY_PINGS = 300


def title(plan: Plan) -> str:
    """What a figure is of: path, stack, the hosts' era, region and seed."""
    stacks = " + ".join(sorted({flow.stack for flow in plan.schedule.flows}))
    path = plan.path.title or plan.path.name
    region = f"regions of {plan.schedule.region_s:g} s"
    return f"{path}: {stacks}, era {plan.era.name}, {region}, seed {plan.seed}"


def boundaries_s(plan: Plan) -> list[float]:
    """Where one region ends and the next begins."""
    return [region.start_s for region in plan.schedule.regions()][1:]


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


def _draw_throughput(axes: Axes, samples: Samples, plan: Plan, style: Style) -> None:
    flows_bps = per_second(samples, plan.schedule)
    times_s = flows_bps.index.to_numpy() - 0.5
    curves = [smoothed(flows_bps[name].to_numpy()) / 1e6 for name in flows_bps.columns]
    areas = axes.stackplot(
        times_s, curves, labels=list(flows_bps.columns), linewidth=0,
        colors=[style.colour(number) for number in range(len(curves))],
    )  # fmt: skip
    for number, area in enumerate(areas):
        area.set_hatch(style.hatch(number))
        area.set_edgecolor("white")
    total = np.sum(curves, axis=0)
    axes.plot(times_s, total, color="black", linewidth=0.6, label="aggregate")
    rate_mbps = plan.path.rate_bps / 1e6
    axes.axhline(rate_mbps, color="black", linewidth=0.7, linestyle="--", label="bottleneck rate")
    axes.set_ylim(0, 1.12 * max(rate_mbps, float(total.max())))
    axes.set_ylabel(f"throughput (Mbit/s)\nstacked, over {SMOOTHING_S} s")
    axes.set_xlabel("time (s, virtual clock)" if plan.settings.clock == "virtual" else "time (s)")


def _mark_regions(axes: Axes, plan: Plan) -> None:
    for at_s in boundaries_s(plan):
        axes.axvline(at_s, color=RULE, linewidth=0.6, zorder=0.5)


def number_regions(axes: Axes, plan: Plan) -> None:
    """Each region's number above its stretch of time."""
    for region in plan.schedule.regions():
        axes.text(
            (region.start_s + region.stop_s) / 2, 1.02, f"region {region.number}", ha="center",
            va="bottom", fontsize=7.5, color=QUIET, transform=axes.get_xaxis_transform(),
        )  # fmt: skip


def draw(samples: Samples, plan: Plan, style: Style = NORMAL, heading: str = "") -> Figure:
    """Stacked throughput per flow, smoothed over 5 s, below the ping RTT.

    ``heading``: what stands above, the run's :func:`title` if nothing is given.
    """
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": [2, 3]})
        _draw_rtt(upper, samples, plan)
        _draw_throughput(lower, samples, plan, style)
        for axes in (upper, lower):
            axes.set_xlim(0, plan.schedule.duration_s)
            axes.spines[["top", "right"]].set_visible(False)
            _mark_regions(axes, plan)
        number_regions(upper, plan)
        lower.set_xticks(_ticks_s(plan))
        figure.suptitle(heading or title(plan), fontsize=10)
        figure.legend(
            *lower.get_legend_handles_labels(), loc="outside lower center", frameon=False,
            ncols=len(plan.schedule.flows) + 2, handlelength=1.6,
        )  # fmt: skip
    return figure


def _ticks_s(plan: Plan) -> list[float]:
    """One tick per region length, the schedule's end included."""
    count = math.floor(plan.schedule.duration_s / plan.schedule.region_s)
    return [place * plan.schedule.region_s for place in range(count + 1)]


def save_png(samples: Samples, plan: Plan, file: FilePath) -> None:
    """A run's figure as PNG."""
    save(draw(samples, plan), file)
