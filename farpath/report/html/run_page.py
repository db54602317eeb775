"""The interactive HTML page of one run, which works offline.

On its own it is one self-contained file. A results site adds links to other runs, and shares style,
script and plotly.js among all pages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle, zip_longest
from typing import TYPE_CHECKING, Any

from farpath.base.sizes import memory_text
from farpath.mechanisms.draw.mechanism import regions_of
from farpath.mechanisms.registry import mechanisms, panels_of
from farpath.mechanisms.trace.trace_table import windows_mb
from farpath.metrics.flow import flow_samples, receiver_limited_part
from farpath.metrics.link import busiest, has_several_queues, link_queues, link_summaries
from farpath.metrics.one_draw import one_draw_sentences
from farpath.metrics.run import SMOOTHING_S, per_second, smoothed_flows
from farpath.programs.catalog import catalogue
from farpath.report.figures.decimate import min_max_points
from farpath.report.figures.run_over_time import (
    boundaries_s,
    region_names,
    region_tick_s,
    save_png,
    title,
)
from farpath.report.figures.stack_colours import MOST_NAMED, OTHER_COLOUR, looks_of
from farpath.report.html.render import MODEBAR, MODEBAR_PX, PLOTLY_CONFIG, render
from farpath.report.late_data import above_rate_note
from farpath.report.overview import overview
from farpath.report.repeat import command_of
from farpath.spec.changes import Timeline
from farpath.spec.labels import flow_label

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.record import Record
    from farpath.spec.plan import Plan
    from farpath.spec.schedule import Flow

PANELS = ("ping RTT (ms)", "throughput (Mbit/s)", "congestion window (MB)", "queue (MB)")
#: The names of a run's figure and page in its record.
FIGURE_FILE, PAGE_FILE = "figure.png", "page.html"
#: Colours of curves that are not flows: that of text, and the queue's. page.js knows them by these
#: names.
INK, QUEUE = {"colour": "ink"}, {"colour": "queue"}
INK_COLOUR, QUEUE_COLOUR = "#404040", "#5f7f95"
#: The part of a buffer from which on a queue is drawn with it.
BUFFER_PART = 0.1
#: The part of a flow's samples from which on the page says that its receiver limits it.
RECEIVER_PART = 0.05
#: The lines of further queues than the busiest.
DASHES = ("dash", "dot", "dashdot", "longdash")
#: The colour of region numbers where the page sets none.
NUMBER_COLOUR = "#606060"


@dataclass(frozen=True)
class NavLink:
    """A link: its text and relative address; ``here`` if it leads to this page."""

    text: str
    href: str
    here: bool = False


@dataclass(frozen=True)
class NavLinks:
    """The links of a run's page on a site: to the index, and to groups of related runs."""

    index: str
    groups: tuple[tuple[str, tuple[NavLink, ...]], ...]


@dataclass(frozen=True)
class Facts:
    """A titled table; the first cell of each row names the row."""

    title: str
    rows: tuple[tuple[str, ...], ...]


def _line(
    x: Iterable[float], y: Iterable[float], name: str, quantity: str, **more: object
) -> dict[str, Any]:
    """Return one curve as plotly.js takes it; plain lists keep the page readable.

    ``quantity``: the value with its unit, as shown where the mouse is over it.
    """
    return {
        "type": "scatter",
        "x": [round(float(value), 3) for value in x],
        "y": _rounded(y),
        "name": name,
        "hovertemplate": f"%{{fullData.name}}: {quantity} at %{{x:.2~f}} s<extra></extra>",
        **more,
    }


def _rounded(values: Iterable[float]) -> list[float | None]:
    return [None if value != value else round(float(value), 4) for value in values]


def _traces(record: Record) -> list[dict[str, Any]]:
    samples = record.samples
    ping = samples.ping
    marks = {"symbol": "cross-thin-open", "size": 6, "color": "black"}
    return [
        _line(ping["t_s"], ping["rtt_ms"], "ping RTT", "%{y:.1f} ms", mode="markers",
              marker=marks, yaxis="y", meta=INK),
        _level(record.plan.rtts, "base RTT", "y", "dot"),
        *_flow_traces(record),
        *_total_traces(record),
        *_queue_traces(record),
        *_buffer_trace(record),
    ]  # fmt: skip


def _level(values: Timeline, name: str, axis: str, dash: str, scale: float = 1.0) -> dict[str, Any]:
    """Return a value of the plan over time, divided by ``scale``."""
    line = {"color": INK_COLOUR, "width": 1, "dash": dash}
    if values.changes:
        line["shape"] = "hv"
    levels = [value / scale for value in (*values.values, values.values[-1])]
    times_s = (*values.at_s, values.duration_s)
    curve = _line(times_s, levels, name, "", yaxis=axis, mode="lines", line=line, meta=INK)
    return curve | {"hoverinfo": "skip", "hovertemplate": None}


def _buffer_trace(record: Record) -> list[dict[str, Any]]:
    """Return the size of the only bottleneck's buffer, unless its queue is far from it."""
    plan = record.plan
    if has_several_queues(record) or not _fills_buffer(record):
        return []
    size = Timeline((0.0,), (float(plan.path.buffer_bytes),), plan.schedule.duration_s)
    return [_level(size, "buffer", "y4", "dashdot", 1e6)]


def _fills_buffer(record: Record) -> bool:
    """Whether the queue was long enough to be drawn with the buffer's size."""
    queue = record.samples.queue
    longest = queue["backlog_bytes"].max() if len(queue) else 0
    return bool(longest >= BUFFER_PART * record.plan.path.buffer_bytes)


def _limited_by_receiver(record: Record) -> dict[str, float]:
    """Return the flows that their receivers' windows limit: the part of their samples, by name."""
    parts = {
        flow.name: receiver_limited_part(record, flow.name) for flow in record.plan.schedule.flows
    }
    return {name: part for name, part in parts.items() if part >= RECEIVER_PART}


def _panel_notes(record: Record) -> list[str]:
    """Return sentences on lines of the panels: why a window stands still, and a buffer unseen."""
    plan, notes = record.plan, []
    if limited := _limited_by_receiver(record):
        labels = {flow.name: flow_label(flow) for flow in plan.schedule.flows}
        flows = ", ".join(f"{labels[name]} ({100 * part:.0f} %)" for name, part in limited.items())
        notes.append(
            "Dotted beside congestion windows: the window of the receiver. Where it is the smaller "
            "one, the receiver limits the flow, and not its congestion control: "
            f"{flows} of the samples. The path's window is {memory_text(plan.path.window_bytes)}."
        )
    if not has_several_queues(record) and not _fills_buffer(record):
        size = memory_text(plan.path.buffer_bytes)
        notes.append(
            f"The buffer, {size}, is beyond the panel of the queue, which stayed far below."
        )
    return notes


def _queue_traces(record: Record) -> list[dict[str, Any]]:
    """Return the backlog of each link that is a bottleneck or queued, the busiest link's filled."""
    shown = {link.link for link in link_summaries(record)}
    queues = [queue for queue in link_queues(record) if queue.link in shown]
    fullest = busiest(record).link
    dashes = cycle(DASHES)
    traces = []
    for queue in queues:
        name = f"queue {queue.link}" if has_several_queues(record) else "queue"
        is_filled = queue.link == fullest
        line = {"color": QUEUE_COLOUR, "width": 1, "dash": "solid" if is_filled else next(dashes)}
        fill: dict[str, object] = {"fill": "tozeroy"} if is_filled else {}
        points = min_max_points(queue.samples["t_s"], queue.samples["backlog_bytes"] / 1e6)
        curve = _line(*points, name, "%{y:.3f} MB", yaxis="y4", mode="lines", line=line, meta=QUEUE)
        traces.append(curve | fill)
    return traces


def _flow_traces(record: Record) -> list[dict[str, Any]]:
    """Return each flow's throughput, stacked on the others', and its window."""
    schedule = record.plan.schedule
    flows_bps = per_second(record.samples, schedule)
    smooth_bps = smoothed_flows(flows_bps, schedule)
    traces = []
    looks = looks_of([flow.stack for flow in schedule.flows[:MOST_NAMED]])
    limited = _limited_by_receiver(record)
    for flow, look in zip_longest(schedule.flows, looks):
        line = {"color": look.colour if look else OTHER_COLOUR, "width": 1}
        line["dash"] = look.dash if look else "solid"
        meta = look.meta if look else {"colour": ""}
        style = {"line": line, "mode": "lines", "legendgroup": flow.name, "meta": meta}
        absent = _absent(flows_bps, flow)
        raw, smooth = (
            _from_zero(values_bps[flow.name].mask(absent) / 1e6)
            for values_bps in (flows_bps, smooth_bps)
        )
        area = {
            **style,
            "line": {**line, "width": 0, "shape": "vh"},
            "meta": {**meta, "smoothed": _rounded(smooth)},
        }
        traces.append(
            _line(_edges_s(flows_bps), raw, flow_label(flow), "%{y:.1f} Mbit/s", yaxis="y2",
                  stackgroup="flows", **area)
        )  # fmt: skip
        traces += _window_traces(record, flow, style, flow.name in limited)
    return traces


def _absent(flows_bps: pd.DataFrame, flow: Flow) -> pd.Series[bool]:
    """Return the seconds in which a flow is absent and nothing of it arrives."""
    middles_s = flows_bps.index.to_series() - 0.5
    return ((middles_s < flow.start_s) | (middles_s > flow.stop_s)) & (flows_bps[flow.name] == 0)


def _edges_s(flows_bps: pd.DataFrame) -> list[float]:
    """Return the beginning of the first second and the end of each."""
    return [0.0, *flows_bps.index]


def _from_zero(values: pd.Series[float]) -> list[float]:
    """Return a value for each time of ``_edges_s``: that of the second that ends there."""
    return [0.0, *values]


def _total_traces(record: Record) -> list[dict[str, Any]]:
    """Return the throughput of all flows, and the rate of the bottleneck."""
    schedule = record.plan.schedule
    flows_bps = per_second(record.samples, schedule)
    raw, smooth = (
        _from_zero(values_bps.sum(axis="columns") / 1e6)
        for values_bps in (flows_bps, smoothed_flows(flows_bps, schedule))
    )
    line = {"color": INK_COLOUR, "width": 1}
    total = _line(_edges_s(flows_bps), raw, "aggregate", "%{y:.1f} Mbit/s", yaxis="y2",
                  mode="lines", line={**line, "shape": "vh"},
                  meta={**INK, "smoothed": _rounded(smooth)})  # fmt: skip
    # Flows over several bottlenecks have no one rate
    if record.plan.bottlenecks > 1:
        return [total]
    return [total, _level(record.plan.rates, "bottleneck rate", "y2", "dash", 1e6)]


def _window_traces(
    record: Record, flow: Flow, style: dict[str, Any], is_limited: bool
) -> list[dict[str, Any]]:
    """Return a flow's congestion window, and from a trace its slow start threshold in dashes.

    ``is_limited``: by its receiver, whose window is dotted then.
    """
    options = {**style, "yaxis": "y3", "showlegend": False}
    trace = record.trace
    name, value_text = flow_label(flow), "%{y:.3f} MB"
    dotted_options = {**options, "line": {**style["line"], "dash": "dot"}, "opacity": 0.6}
    sampled = flow_samples(record, flow.name)
    of_receiver = _line(
        sampled["t_s"],
        sampled["snd_wnd_bytes"] / 1e6,
        f"{name} receiver's window",
        value_text,
        **dotted_options,
    )
    further = [of_receiver] if is_limited else []
    rows = None if trace is None else trace[trace["flow"] == flow.name]
    if rows is None or not len(rows):
        rows = sampled
        return [
            _line(rows["t_s"], rows["cwnd_bytes"] / 1e6, f"{name} window", value_text, **options),
            *further,
        ]
    cwnd_mb, ssthresh_mb = windows_mb(rows)
    dashed_options = {**options, "line": {**style["line"], "dash": "dash"}, "opacity": 0.6}
    return [
        _line(
            *min_max_points(rows["t_s"], cwnd_mb),
            f"{name} window",
            value_text,
            **options,
        ),
        _line(
            *min_max_points(rows["t_s"], ssthresh_mb),
            f"{name} ssthresh",
            value_text,
            **dashed_options,
        ),
        *further,
    ]


def _region_numbers(plan: Plan) -> list[dict[str, Any]]:
    """Return each region's number above its stretch of time; none of a single one."""
    if len(regions_of(plan)) == 1:
        return []
    return [
        {"xref": "x", "yref": "paper", "x": (region.start_s + region.stop_s) / 2, "y": 1,
         "yanchor": "bottom", "text": name, "showarrow": False,
         "font": {"size": 11, "color": NUMBER_COLOUR}}
        for region, name in zip(regions_of(plan), region_names(plan), strict=True)
    ]  # fmt: skip


def _layout(record: Record) -> dict[str, Any]:
    plan = record.plan
    layout: dict[str, Any] = {
        "height": 900,
        "margin": {"l": 70, "r": MODEBAR_PX, "t": 70, "b": 50},
        "modebar": MODEBAR,
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "plot_bgcolor": "white",
        "legend": {"orientation": "h", "y": 1.03, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "time (s)"}, "range": [0, plan.schedule.duration_s],
                  "anchor": f"y{len(PANELS)}", "showline": True, "linecolor": "#888",
                  "gridcolor": "#eee"},
        "shapes": [
            {"type": "line", "xref": "x", "yref": "paper", "x0": at_s, "x1": at_s,
             "y0": 0, "y1": 1, "layer": "below", "line": {"color": "#bbb", "width": 1}}
            for at_s in boundaries_s(plan)
        ],
        "annotations": _region_numbers(plan),
    }  # fmt: skip
    if tick_s := region_tick_s(plan):
        layout["xaxis"]["dtick"] = tick_s
    height = 1 / len(PANELS)
    for index, text in enumerate(PANELS):
        top = 1 - index * height
        layout[f"yaxis{index + 1 if index else ''}"] = {
            "title": {"text": text}, "domain": [top - height + 0.03, top],
            "rangemode": "tozero", "gridcolor": "#eee", "showline": True, "linecolor": "#888",
        }  # fmt: skip
    return layout


def curves(record: Record) -> dict[str, Any]:
    """Return the interactive figure as Plotly takes it: data, layout, configuration."""
    return {"data": _traces(record), "layout": _layout(record), "config": PLOTLY_CONFIG}


def _path_facts(record: Record) -> Facts:
    """Return the path's values as people write them, each with the source of it."""
    plan, path = record.plan, record.plan.path
    rows = [
        ("base RTT", f"{path.rtt_ms:g} ms", "rtt_ms"),
        ("rate", f"{path.rate_bps / 1e6:g} Mbit/s", "rate_bps"),
        ("buffer", memory_text(path.buffer_bytes), "buffer_bytes"),
        ("loss", f"{path.loss:g}", "loss"),
        ("MTU", f"{path.mtu_bytes:,} bytes", "mtu_bytes"),
        ("window", memory_text(path.window_bytes), "window_bytes"),
    ]
    if path.buffer_packets:
        rows.append(("buffer length", f"{path.buffer_packets:,} packets", "buffer_packets"))
    rows += [
        (fact.name, fact.value, fact.path_field)
        for mechanism in mechanisms()
        for fact in mechanism.facts(plan)
    ]
    rows += [("IP version", str(plan.ip_version), ""), *_topology_facts(plan)]
    if path.hops:
        rows.append(("hops", ", ".join(path.hop_names), "hops"))
    return Facts(
        f"Path {path.name}",
        tuple((words, value, path.sources.get(source, "")) for words, value, source in rows),
    )


def _topology_facts(plan: Plan) -> list[tuple[str, str, str]]:
    if plan.user_network:
        return [("topology", f"{plan.topology}, {plan.user_network.sizes}", "")]
    if plan.bottlenecks > 1:
        return [("topology", f"{plan.topology}, {plan.bottlenecks} bottlenecks", "")]
    return [
        ("topology", plan.topology, ""),
        ("further senders", " ".join(map(str, plan.senders)) or "none", ""),
        ("reverse flows", ", ".join(flow.stack for flow in plan.schedule.reverse) or "none", ""),
    ]


def _stack_facts(record: Record) -> Facts:
    """Return each stack's description and the parameters in effect, and the era of the hosts."""
    plan = record.plan
    parameters = record.data["readback"].get("before", {}).get("parameters", {})
    rows = []
    for stack in plan.stacks:
        entry = catalogue().get(stack.name)
        in_effect = {**parameters.get(stack.label, {}), **stack.parameters}
        values = ", ".join(f"{name}={value}" for name, value in in_effect.items())
        description = (
            f"{entry.title}; {entry.source}" if entry else f"a user's own, build {stack.build}"
        )
        rows.append((stack.label, f"{description}; {values}" if values else description))
    rows += [
        (fact.name, fact.value) for mechanism in mechanisms() for fact in mechanism.host_facts(plan)
    ]
    return Facts("Stacks and hosts", tuple(rows))


def _time_text(text: str) -> str:
    """Format a time of a record for people."""
    return text.replace("T", " ").replace("+00:00", " UTC")


def render_page(record: Record, links: NavLinks | None = None, assets: str = "") -> str:
    """Return the whole page as HTML: curves, tables, path and provenance.

    ``assets``: relative address of the directory with style.css, page.js and plotly.min.js; without
    one the page contains them.
    """
    plan = record.plan
    return render(
        "run.html",
        heading=title(plan),
        assets=assets,
        links=links,
        warnings=record.data["warnings"],
        notes=one_draw_sentences(plan),
        smoothing_s=SMOOTHING_S,
        curves=curves(record),
        above_rate=above_rate_note(record.samples, plan),
        panel_notes=_panel_notes(record),
        has_regions=len(regions_of(plan)) > 1,
        tables=overview(record),
        command=command_of(plan, record.request),
        kernels=record.kernel if record.has_kernels_by_side else "",
        recorded_at=_time_text(record.recorded_at),
        facts=(_stack_facts(record), _path_facts(record)),
        fingerprint=record.fingerprint,
        seed=plan.seed,
        provenance=json.dumps(record.data["provenance"], indent=1, sort_keys=True),
    )


def save_pictures(record: Record) -> None:
    """Add a run's figure and its self-contained page to its record's directory."""
    trace = record.trace
    file = record.directory / FIGURE_FILE
    save_png(record.samples, record.plan, file, trace, panels_of(record))
    page = render_page(record)
    (record.directory / PAGE_FILE).write_text(page, encoding="utf-8")
