"""Overlay: curves of several runs in one Plotly figure, for comparison in a lesson."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farpath.metrics.flow import (
    bdp_packets,
    flow_samples,
    goodput_bps,
    payload_bytes,
    throughput_curve_bps,
)
from farpath.report.figures.stack_colours import looks_of
from farpath.report.figures.style import QUIET
from farpath.report.html.render import MODEBAR, MODEBAR_PX

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.record import Record
    from farpath.spec.plan import Plan
    from farpath.spec.schedule import Flow

#: Line styles of runs, in their order.
DASHES = ("solid", "dash", "dashdot", "longdash")


@dataclass(frozen=True)
class Panel:
    """One quantity over time.

    ``curve`` returns it for a flow, indexed by seconds; ``reference`` a value of the plan that it
    is compared with, and ``reference_name`` what that is.
    """

    title: str
    curve: Callable[[Record, Flow], pd.Series[float]]
    reference: Callable[[Plan], float]
    reference_name: str


def _window_packets(record: Record, flow: Flow) -> pd.Series[float]:
    plan = record.plan
    trace = record.trace
    if trace is not None:
        rows = trace[trace["flow"] == flow.name].set_index("t_s")
        return rows["cwnd_packets"].astype(float)
    rows = flow_samples(record, flow.name).set_index("t_s")
    return rows["cwnd_bytes"] / payload_bytes(plan.path, plan.ip_version)


def _throughput_mbps(record: Record, flow: Flow) -> pd.Series[float]:
    return throughput_curve_bps(record, flow.name) / 1e6


def _rtt_ms(record: Record, flow: Flow) -> pd.Series[float]:
    return flow_samples(record, flow.name).set_index("t_s")["rtt_us"] / 1e3


#: What a lesson may draw.
WINDOW = Panel("window (packets)", _window_packets, lambda plan: bdp_packets(plan.path),
               "bandwidth-delay product")  # fmt: skip
THROUGHPUT = Panel("throughput (Mbit/s)", _throughput_mbps,
                   lambda plan: goodput_bps(plan) / 1e6,
                   "all that the bottleneck carries")  # fmt: skip
RTT = Panel("smoothed RTT (ms)", _rtt_ms, lambda plan: plan.path.rtt_ms, "RTT of the empty path")


def overlay(runs: Sequence[tuple[str, Record]], panel: Panel) -> dict[str, Any]:
    """Return a figure, data and layout, with the curves of each named run.

    A flow has its stack's colour. Runs differ in their dashes, and flows of one stack in shade. A
    dotted line is the panel's reference, one for each of its values.
    """
    data: list[dict[str, Any]] = []
    stacks = [flow.stack for _, record in runs for flow in record.plan.schedule.flows]
    looks = iter(looks_of(stacks))
    for number, (name, record) in enumerate(runs):
        several = len(record.plan.schedule.flows) > 1
        dash = DASHES[number % len(DASHES)]
        for flow in record.plan.schedule.flows:
            label = f"{name}, {flow.name} {flow.stack}" if several else name
            curve = panel.curve(record, flow)
            data.append(_line(list(curve.index), list(curve), label, next(looks).colour, dash))
    lengths_s: dict[float, float] = {}
    for _, record in runs:
        value, duration_s = panel.reference(record.plan), record.plan.schedule.duration_s
        lengths_s[value] = max(duration_s, lengths_s.get(value, 0.0))
    for number, (value, length_s) in enumerate(lengths_s.items()):
        line = _line([0.0, length_s], [value, value], panel.reference_name, QUIET, "dot")
        data.append({**line, "showlegend": number == 0})
    layout = {
        "height": 380,
        "margin": {"l": 60, "r": MODEBAR_PX, "t": 20, "b": 45},
        "modebar": MODEBAR,
        "hovermode": "closest",
        "plot_bgcolor": "white",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "time (s, virtual clock)"}, **_AXIS},
        "yaxis": {"title": {"text": panel.title}, "rangemode": "tozero", **_AXIS},
    }
    return {"data": data, "layout": layout}


_AXIS = {"gridcolor": "#eee", "showline": True, "linecolor": "#888", "zeroline": False}


def _line(
    x: Sequence[float], y: Sequence[float], name: str, colour: str, dash: str
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [round(float(value), 3) for value in x],
        "y": [round(float(value), 3) for value in y],
        "name": name,
        "line": {"color": colour, "width": 1.4, "dash": dash},
    }
