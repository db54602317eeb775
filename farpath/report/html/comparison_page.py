"""The self-contained page of a comparison: tables, and the curves of all runs."""

from __future__ import annotations

from typing import Any

from farpath.report.figures.stack_colours import neutral_looks
from farpath.report.html.render import render
from farpath.report.tables.comparison import QUANTITIES, Comparison

#: Height of the figure in pixels, and the part of it between two panels.
HEIGHT_PX, GAP = 760, 0.05
#: Digits after the point of a point's value.
DIGITS = 4


def render_comparison(comparison: Comparison) -> str:
    """Return the page as HTML."""
    first, *others = comparison.runs
    return render(
        "comparison.html",
        heading=f"{', '.join(run.letter for run in others)} against {first.letter}",
        assets="",
        remarks=comparison.remarks,
        tables=(comparison.records_table, comparison.results_table),
        curves={"data": _traces(comparison), "layout": _layout()},
    )


def _traces(comparison: Comparison) -> list[dict[str, Any]]:
    traces = []
    looks = neutral_looks(len(comparison.runs))
    for panel, (quantity, curve_of) in enumerate(QUANTITIES.items(), 1):
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


def _layout() -> dict[str, Any]:
    layout: dict[str, Any] = {
        "height": HEIGHT_PX,
        "margin": {"l": 70, "r": 20, "t": 30, "b": 50},
        "hovermode": "x unified",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "time (s)"}, "anchor": f"y{len(QUANTITIES)}"},
        "shapes": [],
        "annotations": [],
    }
    height = 1 / len(QUANTITIES)
    for index, quantity in enumerate(QUANTITIES):
        top = 1 - index * height
        layout[f"yaxis{index + 1 if index else ''}"] = {
            "title": {"text": quantity}, "domain": [top - height + GAP, top], "rangemode": "tozero",
        }  # fmt: skip
    return layout
