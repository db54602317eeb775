"""The self-contained page of a connection: its graphs, to zoom into, and its counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from farpath.report.connection_graphs import BARS, STEPS, Panel, Series
from farpath.report.html.render import MODEBAR, MODEBAR_PX, render
from farpath.report.table import Table

#: Heights of panels in pixels, and the part of the figure between two of them.
STEVENS_PX, PANEL_PX, GAP = 520, 220, 0.04
#: Most points of a series on a page; of more, every n-th is drawn.
MOST_POINTS = 20_000
#: Digits of a time in s: microseconds.
DIGITS = 6
_SYMBOLS = {".": "circle", "_": "line-ew-open", "s": "square", "^": "triangle-up", "x": "x"}


def render_connection(
    title: str,
    remarks: Sequence[str],
    tables: Sequence[Table],
    panels: Sequence[Panel],
    span_s: tuple[float, float],
) -> str:
    """Return the page as HTML; ``remarks``: sentences without their full stops."""
    most = max((one.x.size for panel in panels for one in panel.series), default=0)
    return render(
        "capture.html",
        heading=title,
        assets="",
        remarks=remarks,
        tables=tables,
        every=_step(most),
        curves=curves_of(panels, span_s),
    )


def curves_of(panels: Sequence[Panel], span_s: tuple[float, float]) -> dict[str, Any]:
    """Return what Plotly draws of panels, one below the other, over a span of time in s."""
    return {"data": _traces(panels), "layout": _layout(panels, span_s)}


def _step(points: int) -> int:
    return -(-points // MOST_POINTS) if points else 1


def _traces(panels: Sequence[Panel]) -> list[dict[str, Any]]:
    return [
        _trace(series, f"y{number if number > 1 else ''}")
        for number, panel in enumerate(panels, 1)
        for series in panel.series
    ]


def _trace(series: Series, axis: str) -> dict[str, Any]:
    step = _step(series.x.size)
    x, y = series.x[::step], series.y[::step]
    meta = {"colour": series.hue if series.hue == "ink" else f"hue-{series.hue}"}
    trace: dict[str, Any] = {"type": "scatter", "name": series.label, "yaxis": axis, "meta": meta}
    times: list[float | None] = np.round(x, DIGITS).tolist()
    values: list[float | None] = y.tolist()
    if series.form == BARS and series.top is not None:
        # Bars are one line with gaps
        times = [each for time in times for each in (time, time, None)]
        tops = series.top[::step].tolist()
        values = [each for pair in zip(values, tops, strict=True) for each in (*pair, None)]
        trace |= {"mode": "lines", "line": {"width": 1.6}}
        if series.is_bold:  # a segment alone is too short to be seen as a line
            trace |= {"mode": "lines+markers", "marker": {"size": 6}}
    elif series.form == STEPS:
        trace |= {"mode": "lines", "line": {"width": 1.2, "shape": "hv"}}
    else:
        trace |= {"mode": "markers", "marker": {"size": 5, "symbol": _SYMBOLS[series.mark]}}
    return {**trace, "x": times, "y": values}


def _layout(panels: Sequence[Panel], span_s: tuple[float, float]) -> dict[str, Any]:
    heights = [STEVENS_PX if panel.name == "stevens" else PANEL_PX for panel in panels]
    layout: dict[str, Any] = {
        "height": sum(heights) + 80,
        "margin": {"l": 80, "r": MODEBAR_PX, "t": 30, "b": 50},
        "modebar": MODEBAR,
        "hovermode": "closest",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        "xaxis": {
            "title": {"text": "time (s)"},
            "anchor": f"y{len(panels) if len(panels) > 1 else ''}",
            "range": list(span_s),
        },
        "shapes": [],
        "annotations": [],
    }
    top = 1.0
    for number, (panel, height) in enumerate(zip(panels, heights, strict=True), 1):
        part = height / sum(heights)
        layout[f"yaxis{number if number > 1 else ''}"] = {
            "title": {"text": panel.axis},
            **({} if panel.range is None else {"range": list(panel.range)}),
            "domain": [max(top - part + (GAP if number < len(panels) else 0), 0.0), top],
        }
        top -= part
    return layout
