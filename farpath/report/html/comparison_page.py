"""The self-contained page of a comparison: tables, and the curves of all runs."""

from __future__ import annotations

from typing import Any

from farpath.report.figures.compared_curves import looks_in
from farpath.report.html.render import MODEBAR, MODEBAR_PX, render
from farpath.report.late_data import above_rates_note
from farpath.report.tables.comparison import Comparison

#: Height of a panel in pixels, and the part of the figure between two panels.
PANEL_PX, GAP = 250, 0.05
#: Digits after the point of a point's value.
DIGITS = 4


def render_comparison(comparison: Comparison) -> str:
    """Return the page as HTML."""
    return render(
        "comparison.html",
        heading=comparison.title,
        is_of_flows=bool(comparison.flows),
        assets="",
        remarks=comparison.remarks,
        tables=(comparison.records_table, comparison.results_table),
        above_rate=above_rates_note(run.record for run in comparison.runs),
        curves={"data": _traces(comparison), "layout": _layout(comparison)},
    )


def _traces(comparison: Comparison) -> list[dict[str, Any]]:
    traces = []
    for panel, (quantity, curve_of) in enumerate(comparison.quantities.items(), 1):
        looks = looks_in(comparison, panel - 1)
        unit = quantity[quantity.index("(") + 1 : -1]
        for index, run in enumerate(comparison.runs):
            curve = curve_of(run.record)
            traces.append({
                "type": "scatter", "mode": "lines", "name": run.label, "legendgroup": run.letter,
                "showlegend": panel == 1, "yaxis": f"y{panel if panel > 1 else ''}",
                "x": [round(float(t_s), DIGITS) for t_s in curve.t_s],
                "y": [round(float(value), DIGITS) for value in curve.values],
                "line": {"color": looks[index].colour, "dash": looks[index].dash, "width": 1.3},
                "meta": looks[index].meta,
                "hovertemplate": f"{run.letter}: %{{y:.2f}} {unit} at %{{x:.2~f}} s<extra></extra>",
            })  # fmt: skip
    return traces


def _layout(comparison: Comparison) -> dict[str, Any]:
    quantities = comparison.quantities
    layout: dict[str, Any] = {
        "height": PANEL_PX * len(quantities),
        "margin": {"l": 70, "r": MODEBAR_PX, "t": 30, "b": 50},
        "modebar": MODEBAR,
        "hovermode": "x unified",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "time (s)"}, "anchor": f"y{len(quantities)}"},
        "shapes": [],
        "annotations": [],
    }
    height = 1 / len(quantities)
    for index, quantity in enumerate(quantities):
        top = 1 - index * height
        layout[f"yaxis{index + 1 if index else ''}"] = {
            "title": {"text": quantity},
            "domain": [top - height + GAP, top],
            "rangemode": "tozero",
        }
    return layout
