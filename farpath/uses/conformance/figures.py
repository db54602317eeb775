"""Figures of scenarios, with the curve that a standard states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from farpath.record.record import load_record
from farpath.report.figures.decimate import min_max_points
from farpath.report.figures.stack_colours import look_of
from farpath.report.figures.window_curve import Curve, draw_window
from farpath.uses.conformance.cubic_epochs import epochs_of
from farpath.uses.conformance.trace_parts import trace_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from farpath.record.record import Record
    from farpath.uses.conformance.runner import Conformance


def cubic_curve(record: Record) -> Figure:
    """Draw the window with W_cubic of each epoch over it, and its W_max."""
    trace = trace_of(record)
    curves = [
        Curve(*min_max_points(epoch.rows["t_s"], epoch.formula_packets), epoch.w_max)
        for epoch in epochs_of(record)
    ]
    name = "W_cubic(t) of RFC 9438; dotted: W_max"
    points = min_max_points(trace["t_s"], trace["cwnd_packets"])
    colour = look_of(record.plan.schedule.flows[0].stack).colour
    return draw_window(*points, curves, name, colour)


#: Drawing of a scenario, by the measure of one of its statements.
_FIGURES: Mapping[str, Callable[[Record], Figure]] = {"curve_deviation": cubic_curve}


def figures_of(conformance: Conformance) -> dict[str, Figure]:
    """Return the figures, by the names of their scenarios."""
    return {
        verdict.scenario.name: _FIGURES[verdict.statement.measure](
            load_record(conformance.records[verdict.scenario.name], verify=False)
        )
        for verdict in conformance.verdicts
        if verdict.statement.measure in _FIGURES and verdict.scenario.name in conformance.records
    }
