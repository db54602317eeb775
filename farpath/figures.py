"""Figures: throughput per flow and ping RTT over time, as the paper's figures 2 to 5."""

from __future__ import annotations

import math
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import numpy as np

from farpath.metrics import SMOOTHING_S, per_second, smoothed
from farpath.plan import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from farpath.record import Samples

#: Flow 1 red, 2 green, 3 blue, 4 pink, as on the testbed's page; further flows grey.
FLOW_COLOURS = ("#d62728", "#2ca02c", "#1f77b4", "#f78fc5")
OTHER_COLOUR = "#7f7f7f"
DPI = 150


def flow_colour(number: int) -> str:
    """Colour of the flow at this place of the schedule, counted from 0."""
    return FLOW_COLOURS[number] if number < len(FLOW_COLOURS) else OTHER_COLOUR


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
        answered["t_s"],
        answered["rtt_ms"],
        "+",
        color="black",
        markersize=5,
        mew=0.7,
        clip_on=False,
    )
    most = float(answered["rtt_ms"].max()) if len(answered) else plan.path.rtt_ms
    axes.set_ylim(0, 1.1 * most)
    axes.set_ylabel("ping RTT (ms)")
    lost = samples.ping.loc[samples.ping["rtt_ms"].isna(), "t_s"]
    if len(lost):
        axes.plot(lost, [0.04 * most] * len(lost), "x", color="#d62728", markersize=4)
        axes.text(
            0.995,
            0.11,
            f"x: {len(lost)} lost",
            transform=axes.transAxes,
            ha="right",
            color="#d62728",
        )


def _draw_throughput(axes: Axes, samples: Samples, plan: Plan) -> None:
    flows_bps = per_second(samples, plan.schedule)
    times_s = flows_bps.index.to_numpy() - 0.5
    curves = [smoothed(flows_bps[name].to_numpy()) / 1e6 for name in flows_bps.columns]
    colours = [flow_colour(number) for number in range(len(curves))]
    names = list(flows_bps.columns)
    axes.stackplot(times_s, curves, labels=names, colors=colours, alpha=0.85, linewidth=0)
    rate_mbps = plan.path.rate_bps / 1e6
    axes.axhline(rate_mbps, color="black", linewidth=0.8, linestyle="--", label="bottleneck rate")
    highest = max(rate_mbps, float(np.sum(curves, axis=0).max()))
    axes.set_ylim(0, 1.12 * highest)
    axes.set_ylabel(f"throughput (Mbit/s)\nstacked, over {SMOOTHING_S} s")
    axes.set_xlabel("time (s, virtual clock)" if plan.settings.clock == "virtual" else "time (s)")


def _number_regions(axes: Axes, plan: Plan) -> None:
    for region in plan.schedule.regions():
        axes.text(
            (region.start_s + region.stop_s) / 2, 1.02, f"region {region.number}", ha="center",
            va="bottom", fontsize=8, color="#606060", transform=axes.get_xaxis_transform(),
        )  # fmt: skip


def draw(samples: Samples, plan: Plan) -> Figure:
    """Stacked throughput per flow, smoothed over 5 s, below the ping RTT."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": [2, 3]})
    _draw_rtt(upper, samples, plan)
    _draw_throughput(lower, samples, plan)
    for axes in (upper, lower):
        axes.set_xlim(0, plan.schedule.duration_s)
        axes.spines[["top", "right"]].set_visible(False)
        for at_s in boundaries_s(plan):
            axes.axvline(at_s, color="#b0b0b0", linewidth=0.7, zorder=0.5)
    _number_regions(upper, plan)
    lower.set_xticks(_ticks_s(plan))
    figure.suptitle(title(plan), fontsize=12)
    figure.legend(
        *lower.get_legend_handles_labels(), loc="outside lower center", frameon=False,
        ncols=len(plan.schedule.flows) + 1,
    )  # fmt: skip
    return figure


def _ticks_s(plan: Plan) -> list[float]:
    """One tick per region length, the schedule's end included."""
    count = math.floor(plan.schedule.duration_s / plan.schedule.region_s)
    return [place * plan.schedule.region_s for place in range(count + 1)]


def save_png(samples: Samples, plan: Plan, file: FilePath) -> None:
    """The figure as PNG; equal inputs give equal bytes with equal libraries."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = draw(samples, plan)
    FigureCanvasAgg(figure)
    figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
