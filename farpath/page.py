"""Page: one run as a self-contained, interactive HTML file that works offline."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.eras import title_of
from farpath.figures import boundaries_s, flow_colour, title
from farpath.metrics import per_second, smoothed, summarise
from farpath.published import published_beside
from farpath.stacks import catalogue
from farpath.tables import Grid, grid_1, grid_2

if TYPE_CHECKING:
    from farpath.record import Record

PANELS = ("ping RTT (ms)", "throughput (Mbit/s)", "congestion window (MB)", "queue (MB)")

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 1rem auto; padding: 0 1rem }
h1 { font-size: 1.3rem } h2 { font-size: 1.05rem; margin: 1.6rem 0 .4rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; white-space: nowrap }
td.long { white-space: normal }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; text-align: right }
th:first-child, td:first-child, td.text { text-align: left }
.note { color: #666; margin: .3rem 0 } .warning { color: #a00 }
pre { background: #f6f6f6; padding: .6rem; overflow-x: auto; font-size: 12px }
"""


def _line(x: Iterable[float], y: Iterable[float], name: str, **more: object) -> dict[str, Any]:
    """One curve as plotly.js takes it; plain lists keep the page readable."""
    return {
        "type": "scatter",
        "x": [round(float(value), 3) for value in x],
        "y": [None if value != value else round(float(value), 4) for value in y],
        "name": name,
        **more,
    }


def _traces(record: Record) -> list[dict[str, Any]]:
    samples, plan = record.samples, record.plan
    ping, queue = samples.ping, samples.queue
    marks = {"symbol": "cross-thin-open", "size": 6, "color": "black"}
    traces = [_line(ping["t_s"], ping["rtt_ms"], "ping", mode="markers", marker=marks, yaxis="y")]
    flows_bps = per_second(samples, plan.schedule)
    for number, name in enumerate(flows_bps.columns):
        colour = flow_colour(number)
        curve = smoothed(flows_bps[name].to_numpy()) / 1e6
        look = {"line": {"color": colour, "width": 1}, "mode": "lines", "legendgroup": name}
        traces.append(
            _line(flows_bps.index - 0.5, curve, name, yaxis="y2", stackgroup="flows", **look)
        )
        rows = samples.flows[(samples.flows["flow"] == name) & (samples.flows["cwnd_bytes"] > 0)]
        traces.append(
            _line(rows["t_s"], rows["cwnd_bytes"] / 1e6, name, yaxis="y3", showlegend=False, **look)
        )
    traces.append(
        _line(queue["t_s"], queue["backlog_bytes"] / 1e6, "queue", yaxis="y4", mode="lines",
              line={"color": "#404040", "width": 1})
    )  # fmt: skip
    return traces


def _layout(record: Record) -> dict[str, Any]:
    plan = record.plan
    layout: dict[str, Any] = {
        "height": 900,
        "margin": {"l": 70, "r": 20, "t": 30, "b": 50},
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "plot_bgcolor": "white",
        "legend": {"orientation": "h", "y": 1.04},
        "xaxis": {"title": {"text": "time (s)"}, "range": [0, plan.schedule.duration_s],
                  "anchor": f"y{len(PANELS)}", "showline": True, "linecolor": "#888"},
        "shapes": [
            {"type": "line", "xref": "x", "yref": "paper", "x0": at_s, "x1": at_s,
             "y0": 0, "y1": 1, "line": {"color": "#bbb", "width": 1}}
            for at_s in boundaries_s(plan)
        ],
    }  # fmt: skip
    height = 1 / len(PANELS)
    for place, text in enumerate(PANELS):
        top = 1 - place * height
        layout[f"yaxis{place + 1 if place else ''}"] = {
            "title": {"text": text}, "domain": [top - height + 0.03, top],
            "rangemode": "tozero", "gridcolor": "#eee", "showline": True, "linecolor": "#888",
        }  # fmt: skip
    return layout


def _chart(record: Record) -> str:
    """The curves, plotly.js and all."""
    import plotly.io  # type: ignore[import-untyped, unused-ignore]

    text: str = plotly.io.to_html(
        {"data": _traces(record), "layout": _layout(record)},
        full_html=False,
        include_plotlyjs=True,
        div_id="curves",
        config={"displaylogo": False, "responsive": True},
        validate=False,
    )
    return text


def _table(grid: Grid) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in grid.header)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in grid.rows
    )
    return (
        f"<h2>{html.escape(grid.title)}</h2><div class='wide'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div><p class='note'>{html.escape(grid.note)}</p>"
    )


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _path_table(record: Record) -> str:
    path = record.plan.path
    rows = [
        (name, getattr(path, name), path.sources.get(name, ""))
        for name in ("rtt_ms", "rate_bps", "buffer_bytes", "loss", "mtu_bytes", "window_bytes")
    ]
    cells = "".join(
        f"<tr><td>{name}</td><td>{_shown(value)}</td>"
        f"<td class='text long'>{html.escape(source)}</td></tr>"
        for name, value, source in rows
    )
    return f"<h2>Path {html.escape(path.name)}</h2><div class='wide'><table>{cells}</table></div>"


def _stack_rows(record: Record) -> list[tuple[str, str]]:
    """What each stack is, its congestion control's parameters as they were, and the era."""
    plan = record.plan
    parameters = record.data["readback"].get("before", {}).get("parameters", {})
    rows = []
    for stack in plan.stacks:
        entry = catalogue().get(stack.name)
        shown = {**parameters.get(stack.label, {}), **stack.parameters}
        values = ", ".join(f"{name}={value}" for name, value in shown.items())
        about = f"{entry.title}; {entry.source}" if entry else f"a user's own, build {stack.build}"
        rows.append((stack.label, f"{about}; {values}" if values else about))
    return [*rows, ("hosts", f"era {plan.era.name}: {title_of(plan.era.name)}")]


def _stack_table(record: Record) -> str:
    cells = "".join(
        f"<tr><td>{html.escape(name)}</td><td class='text long'>{html.escape(text)}</td></tr>"
        for name, text in _stack_rows(record)
    )
    return f"<h2>Stacks and hosts</h2><div class='wide'><table>{cells}</table></div>"


def _pretty(data: Mapping[str, Any]) -> str:
    return f"<pre>{html.escape(json.dumps(data, indent=1, sort_keys=True))}</pre>"


def render_page(record: Record) -> str:
    """The whole page as HTML: tables, curves, path and provenance."""
    plan = record.plan
    summary = summarise(record.samples, plan)
    beside = published_beside(plan)
    heading = html.escape(title(plan))
    warnings = "".join(f"<p class='warning'>{html.escape(w)}</p>" for w in record.data["warnings"])
    parts = [
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{heading}</title>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<style>{_STYLE}</style></head><body><h1>{heading}</h1>{warnings}",
        _table(grid_1(summary, beside)),
        _table(grid_2(summary, beside)),
        "<h2>Over time</h2><p class='note'>Throughput is stacked and smoothed over 5 s. Vertical "
        "lines part the regions. Drag to zoom, double-click to go back.</p>",
        _chart(record),
        _stack_table(record),
        _path_table(record),
        "<h2>Provenance</h2>",
        f"<p>Fingerprint <code>{record.fingerprint}</code>, seed {plan.seed}</p>",
        _pretty(record.data["provenance"]),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def save_page(record: Record, file: FilePath) -> None:
    """Write the page."""
    file.write_text(render_page(record), encoding="utf-8")
