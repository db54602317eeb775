"""Overlay: curves of several runs in one Plotly figure, for comparison in a lesson."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farpath.analysis.flow_metrics import bdp_packets, flow_samples, goodput_bps, payload_bytes
from farpath.report.figures.style import NORMAL

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.record import Record
    from farpath.spec.plan import Plan
    from farpath.spec.schedule import Flow

#: Line styles of a run's flows, in their order.
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
    rows = record.samples.flows
    return rows[rows["flow"] == flow.name].set_index("t_s")["throughput_bps"] / 1e6


def _rtt_ms(record: Record, flow: Flow) -> pd.Series[float]:
    return flow_samples(record, flow.name).set_index("t_s")["rtt_us"] / 1e3


#: What a lesson may draw.
WINDOW = Panel("window (packets)", _window_packets, lambda plan: bdp_packets(plan.path),
               "bandwidth-delay product")  # fmt: skip
THROUGHPUT = Panel("throughput (Mbit/s)", _throughput_mbps,
                   lambda plan: goodput_bps(plan.path, plan.ip_version) / 1e6,
                   "all that the bottleneck carries")  # fmt: skip
RTT = Panel("smoothed RTT (ms)", _rtt_ms, lambda plan: plan.path.rtt_ms, "RTT of the empty path")


def overlay(runs: Sequence[tuple[str, Record]], panel: Panel) -> dict[str, Any]:
    """Return a figure, data and layout, with the curves of each named run in a colour of its own.

    Flows of a run differ in their dashes. A dotted line of the run's colour is the panel's
    reference.
    """
    data: list[dict[str, Any]] = []
    for number, (name, record) in enumerate(runs):
        colour, plan = NORMAL.colour(number), record.plan
        several = len(plan.schedule.flows) > 1
        for index, flow in enumerate(plan.schedule.flows):
            label = f"{name}, {flow.name} {flow.stack}" if several else name
            dash = DASHES[index % len(DASHES)]
            curve = panel.curve(record, flow)
            data.append(_line(list(curve.index), list(curve), label, colour, dash))
        value = panel.reference(plan)
        ends = [0.0, plan.schedule.duration_s]
        reference = _line(ends, [value, value], panel.reference_name, colour, "dot")
        data.append({**reference, "showlegend": number == len(runs) - 1})
    layout = {
        "height": 380,
        "margin": {"l": 60, "r": 20, "t": 20, "b": 45},
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
